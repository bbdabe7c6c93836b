// Fused kernels along the last axis: softmax, log-softmax, log-sum-exp, layer norm, cross-entropy.
//
// x, y, gx, gy: (rows, n) contiguous; gx and gy are gradients of a scalar loss by x and y. Serial:
// the caller cuts rows into chunks. A row's result does not depend on the other rows. Outputs may
// be the same memory as an input of the same shape.
//
// stream: the large output goes past the cache where its rows are whole vectors. Right for outputs
// that outgrow the cache in all; wrong for what is read again at once. Changes no bit.
#pragma once

#include <cstdint>

namespace fovea::kernels {

// Whether an output of so many bytes in all is worth `stream`: more than a core's caches hold.
inline bool worth_streaming(int64_t bytes) { return bytes >= int64_t{16} << 20; }

// y_i = exp(x_i - max x) / sum_j exp(x_j - max x).
// x_i = -inf gives exactly 0; a row of nothing but -inf gives NaN (no distribution exists), +inf
// gives NaN.
void softmax_rows(const float* x, float* y, int64_t rows, int64_t n, bool stream = false);
void softmax_rows(const double* x, double* y, int64_t rows, int64_t n, bool stream = false);

// gx = y * (gy - <y, gy>): 0 wherever y is 0 and gy finite.
void softmax_backward_rows(const float* y, const float* gy, float* gx, int64_t rows, int64_t n,
                           bool stream = false);
void softmax_backward_rows(const double* y, const double* gy, double* gx, int64_t rows, int64_t n,
                           bool stream = false);

// y_i = x_i - max x - log sum_j exp(x_j - max x): [0, -inf] gives [0, -inf].
void log_softmax_rows(const float* x, float* y, int64_t rows, int64_t n, bool stream = false);
void log_softmax_rows(const double* x, double* y, int64_t rows, int64_t n, bool stream = false);

// gx = gy - exp(y) sum_j gy_j, and 0 where y = -inf: a logit of -inf takes no gradient.
void log_softmax_backward_rows(const float* y, const float* gy, float* gx, int64_t rows, int64_t n,
                               bool stream = false);
void log_softmax_backward_rows(const double* y, const double* gy, double* gx, int64_t rows,
                               int64_t n, bool stream = false);

// out, top, total: (rows). out = log sum_j exp(x_j) = top + log(total), total = sum_j exp(x_j -
// top). top is the largest x, or 0 where that is infinite. All -inf gives -inf, any +inf gives
// +inf. Backward gets top and total: out alone has lost log(total) where x is 1e8.
void logsumexp_rows(const float* x, float* out, float* top, float* total, int64_t rows, int64_t n);
void logsumexp_rows(const double* x, double* out, double* top, double* total, int64_t rows,
                    int64_t n);

// gout: (rows). gx_i = gout exp(x_i - top) / total, and 0 where x_i = -inf.
void logsumexp_backward_rows(const float* x, const float* top, const float* total,
                             const float* gout, float* gx, int64_t rows, int64_t n);
void logsumexp_backward_rows(const double* x, const double* top, const double* total,
                             const double* gout, double* gx, int64_t rows, int64_t n);

/// What a normalisation knows of each row, (rows) each; null where nobody asks.
template <class T>
struct RowStatistics {
  T* mean = nullptr;
  T* rstd = nullptr;  ///< 1 / sqrt(variance + eps); 0 for a constant row without eps
  T* variance = nullptr;
};
/// What the gradient of a normalisation reads.
template <class T>
struct LayerNormInputs {
  const T* x;
  const T* gamma;  ///< (n) or null (1)
  double eps;
  const T *mean, *rstd;  ///< as layer_norm_rows gave them
  bool centred = true;
};

// y = (x - mean) rstd gamma + beta, rstd = 1 / sqrt(variance + eps), the variance biased and in two
// passes. Ba, Kiros, Hinton 2016, eq. 3. Not centred: with 0 for the mean, Zhang & Sennrich 2019.
// gamma, beta: (n) or null (1 and 0). A constant row gives beta exactly. Rows of any size: where
// squares leave the range of T, the row is computed in long double.
void layer_norm_rows(const float* x, const float* gamma, const float* beta, double eps, float* y,
                     const RowStatistics<float>& out, int64_t rows, int64_t n, bool centred = true,
                     bool stream = false);
void layer_norm_rows(const double* x, const double* gamma, const double* beta, double eps,
                     double* y, const RowStatistics<double>& out, int64_t rows, int64_t n,
                     bool centred = true, bool stream = false);

// With xhat = (x - mean) rstd and g = gy gamma:
//   gx = rstd (g - mean(g) - xhat mean(g xhat)),  ggamma += sum_r gy xhat,  gbeta += sum_r gy.
// gx: (rows, n) or null; ggamma, gbeta: (n), both or neither null. These two are added to in T,
// row after row: pass blocks of at most some hundred rows, each with its own sums, to keep digits.
void layer_norm_backward_rows(const LayerNormInputs<float>& in, const float* gy, float* gx,
                              float* ggamma, float* gbeta, int64_t rows, int64_t n,
                              bool stream = false);
void layer_norm_backward_rows(const LayerNormInputs<double>& in, const double* gy, double* gx,
                              double* ggamma, double* gbeta, int64_t rows, int64_t n,
                              bool stream = false);

// logits: (rows, classes); target: (rows), each in [0, classes) or ignore_index, which the caller
// has checked; weight: (classes) or null (ones). With p = softmax(logits) and s = smoothing:
//   loss_r = (1 - s) w_t (-log p_t) + s / classes sum_k w_k (-log p_k),   0 for an ignored row
// as torch.nn.functional.cross_entropy with reduction "none"; Szegedy 2016 for the smoothing.
// Backward needs top_r = max_k logits_rk and total_r = sum_k exp(logits_rk - top_r); 0 and 1 for an
// ignored row.
void cross_entropy_rows(const float* logits, const int64_t* target, int64_t ignore_index,
                        double smoothing, const float* weight, float* loss, float* top,
                        float* total, int64_t rows, int64_t classes);
void cross_entropy_rows(const double* logits, const int64_t* target, int64_t ignore_index,
                        double smoothing, const double* weight, double* loss, double* top,
                        double* total, int64_t rows, int64_t classes);

// gx = scale_r d loss_r / d logits_r; zeros for an ignored row. scale: (rows), the upstream
// gradient of each row's loss.
void cross_entropy_backward_rows(const float* logits, const float* top, const float* total,
                                 const int64_t* target, int64_t ignore_index, double smoothing,
                                 const float* weight, const float* scale, float* gx, int64_t rows,
                                 int64_t classes, bool stream = false);
void cross_entropy_backward_rows(const double* logits, const double* top, const double* total,
                                 const int64_t* target, int64_t ignore_index, double smoothing,
                                 const double* weight, const double* scale, double* gx,
                                 int64_t rows, int64_t classes, bool stream = false);

}  // namespace fovea::kernels
