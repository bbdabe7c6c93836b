// Rows of one tile of attention. s, p, dp: (rows, cols), rows `ld` elements apart; the other arrays
// hold a number a row. Serial. Dao 2022, "FlashAttention", algorithms 1 and 4.
#pragma once

#include <cstdint>

namespace fovea::kernels {

/// Whether none of these elements is NaN or infinite.
bool all_finite(const float* x, int64_t rows, int64_t cols, int64_t ld);
bool all_finite(const double* x, int64_t rows, int64_t cols, int64_t ld);

/// Takes up another tile of scores: with m the maximum and l the sum of exp(s - m) so far,
///   m' = max(m, row max of s),  decay = exp(m - m'),  s = exp(s - m'),  l = decay l + row sum of
///   s.
/// -inf is a score of no weight; a row that has met nothing else keeps m = -inf, l = 0, decay = 1.
void attention_accumulate(float* s, int64_t rows, int64_t cols, int64_t ld, float* m, float* l,
                          float* decay);
void attention_accumulate(double* s, int64_t rows, int64_t cols, int64_t ld, double* m, double* l,
                          double* decay);

/// y_r *= factor_r, rows of n elements.
void attention_scale(float* y, int64_t rows, int64_t n, int64_t ld, const float* factor);
void attention_scale(double* y, int64_t rows, int64_t n, int64_t ld, const double* factor);

/// s = exp(s - m) / l: the weights again. m = +inf with l = 1 gives 0. m and l come separately:
/// their sum m + log l, rounded, would lose log l for scores of 1e8.
void attention_weights(float* s, int64_t rows, int64_t cols, int64_t ld, const float* m,
                       const float* l);
void attention_weights(double* s, int64_t rows, int64_t cols, int64_t ld, const double* m,
                       const double* l);

/// dp = p (dp - delta), and 0 where p is 0, whatever dp is: what has no weight has no gradient.
void attention_gradient(const float* p, float* dp, int64_t rows, int64_t cols, int64_t ld,
                        const float* delta);
void attention_gradient(const double* p, double* dp, int64_t rows, int64_t cols, int64_t ld,
                        const double* delta);

}  // namespace fovea::kernels
