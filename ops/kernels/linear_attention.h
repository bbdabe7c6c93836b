// Rows and states of linear attention. Serial. Katharopoulos 2020.
#pragma once

#include <cstdint>

namespace fovea::kernels {

/// sum += part, now = sum rounded: a state that takes up many chunks keeps its digits.
void add_to_state(const float* part, double* sum, float* now, int64_t n);
void add_to_state(const double* part, double* sum, double* now, int64_t n);

/// out_r = [f_r gy_r, -f_r <gy_r, y_r>], rows of n elements, gy's `ldg` apart, those of y n and
/// those of out n + 1: the gradient of quotients y_r = s_r / t_r by [s_r, t_r], with f_r = 1 / t_r.
/// A row with f_r = 0 becomes 0, whatever gy holds.
void quotient_gradient(const float* gy, int64_t ldg, const float* y, const float* f, float* out,
                       int64_t rows, int64_t n);
void quotient_gradient(const double* gy, int64_t ldg, const double* y, const double* f, double* out,
                       int64_t rows, int64_t n);

/// y = x + 1 above 0, exp(x) below: elu(x) + 1 without the cancellation. Within 3 ulp.
void elu_plus_one(const float* x, float* y, int64_t n);
void elu_plus_one(const double* x, double* y, int64_t n);
/// gx = gy min(y, 1)
void elu_plus_one_backward(const float* y, const float* gy, float* gx, int64_t n);
void elu_plus_one_backward(const double* y, const double* gy, double* gx, int64_t n);

}  // namespace fovea::kernels
