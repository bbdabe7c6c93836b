// The loops of additive attention scores. f32 and f64, contiguous. Serial: the caller cuts the
// work into chunks.
#pragma once

#include <cstdint>

namespace fovea::kernels {

// s_j = sum_c v_c tanh(q_c + k_jc). q, v: (h); k: (keys, h); s: (keys). The sum over c is
// compensated as other long sums are, and does not depend on the number of keys.
void additive_scores_row(const float* q, const float* k, const float* v, float* s, int64_t keys,
                         int64_t h);
void additive_scores_row(const double* q, const double* k, const double* v, double* s, int64_t keys,
                         int64_t h);

// With t = tanh(a_i + b_j), g = gs_ij, which lies at gs[i * step_a + j * step_b], and
// d = g v (1 - t^2), each c for itself:
//   ga_i = sum_j d,   gb_j += sum_i d,   gv += sum_ij g t
// a, ga: (rows, h); b, gb: (others, h); v, gv: (h). Queries and keys may take either place.
template <class T>
struct AdditiveBackward {
  const T *a, *b, *v, *gs;
  int64_t step_a, step_b;
  T *ga, *gb, *gv;
  int64_t rows, others, h;
};
void additive_scores_backward(const AdditiveBackward<float>& p);
void additive_scores_backward(const AdditiveBackward<double>& p);

}  // namespace fovea::kernels
