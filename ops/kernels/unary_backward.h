// Backward of the elementwise kernels in one pass: gx[i] = gy[i] f'(.) for i in [0, n).
//
// s is what the forward pass kept: its output y or its input x, as each line says. gx may be the
// same array as s or gy; otherwise the contract of unary.h holds. Derivatives at +-inf are the
// limits (0 or 1), not NaN.
#pragma once

#include <cstdint>

namespace fovea::kernels {

#define FOVEA_DECLARE_BACKWARD(name)                                                \
  void name##_backward(const float* s, const float* gy, float* gx, std::int64_t n); \
  void name##_backward(const double* s, const double* gy, double* gx, std::int64_t n);

// s = y, the output.
FOVEA_DECLARE_BACKWARD(sqrt)     // gy / (2 y), and 0 where y = 0
FOVEA_DECLARE_BACKWARD(rsqrt)    // -gy y^3 / 2
FOVEA_DECLARE_BACKWARD(tanh)     // gy (1 - y^2)
FOVEA_DECLARE_BACKWARD(sigmoid)  // gy y (1 - y)
FOVEA_DECLARE_BACKWARD(relu)     // gy where y > 0, else 0 whatever gy is

// s = x, the input.
FOVEA_DECLARE_BACKWARD(abs)          // gy sign(x)
FOVEA_DECLARE_BACKWARD(erf)          // gy 2 / sqrt(pi) exp(-x^2)
FOVEA_DECLARE_BACKWARD(gelu)         // gy (Phi(x) + x phi(x))
FOVEA_DECLARE_BACKWARD(gelu_tanh)    // gy s (1 + 2 x u' (1 - s)), s = sigmoid(2 u(x))
FOVEA_DECLARE_BACKWARD(silu)         // gy s (1 + x (1 - s)), s = sigmoid(x)
FOVEA_DECLARE_BACKWARD(softplus)     // gy sigmoid(x)
FOVEA_DECLARE_BACKWARD(log_sigmoid)  // gy sigmoid(-x)
FOVEA_DECLARE_BACKWARD(mish)         // gy (t + x (1 - t^2) sigmoid(x)), t = tanh(softplus(x))
FOVEA_DECLARE_BACKWARD(elu)          // gy where x > 0, else gy exp(x)

#undef FOVEA_DECLARE_BACKWARD

}  // namespace fovea::kernels
