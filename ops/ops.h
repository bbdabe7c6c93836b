// Every operation, declared once. The file named above each group holds the derivations.
//
// Conventions for all of them. Names and meanings are PyTorch's. Axes may be negative. Operands
// broadcast as in NumPy; dtypes promote bool < i64 < f32 < f64, and a C++ number never widens a
// float tensor. Results are new tensors outside the storage of their inputs, except for the views
// of ops/view.cpp. An operation on floats records its gradient when an input requires one; where it
// has none it says so. Wrong sizes raise ShapeError, dtypes DTypeError, indices and axes
// IndexError, numbers outside their meaning ValueError: the message names the arguments and their
// shapes.
#pragma once

#include <array>
#include <cmath>
#include <optional>
#include <string>

#include "fovea/core/random.h"
#include "fovea/core/tensor.h"

namespace fovea {

// ------------------------------------------------------------------ creation.cpp
Tensor zeros(const Shape& shape, DType dtype = f32);
Tensor ones(const Shape& shape, DType dtype = f32);
Tensor full(const Shape& shape, Scalar value, DType dtype = f32);
Tensor zeros_like(const Tensor& x);
Tensor ones_like(const Tensor& x);
Tensor full_like(const Tensor& x, Scalar value);
Tensor empty_like(const Tensor& x);
Tensor eye(int64_t n, DType dtype = f32);
/// start, start + step, ... below end. i64 when all three are integers, else f32.
Tensor arange(Scalar end);
Tensor arange(Scalar start, Scalar end, Scalar step = 1);
Tensor linspace(double start, double end, int64_t steps, DType dtype = f32);

/// A nested list of numbers: `tensor({{1.0, 2.0}, {3.0, 4.0}})`. All integers give i64, all bools
/// bool, otherwise f32 (or the dtype asked for). ShapeError when rows differ in length.
struct Values {
  template <class T>
  requires std::is_arithmetic_v<T> Values(T v)
      : number(v) {}  // NOLINT(google-explicit-constructor)
  Values(std::initializer_list<Values> v) : number(0), list(v), is_list(true) {}  // NOLINT
  Scalar number;
  std::vector<Values> list;
  bool is_list = false;
};
Tensor tensor(const Values& values);
Tensor tensor(const Values& values, DType dtype);
/// A copy of n = shape.numel() elements in row-major order.
template <class T>
Tensor from_vector(const std::vector<T>& values, const Shape& shape);
template <class T>
Tensor from_data(const T* values, const Shape& shape);

// ------------------------------------------------------------------ random.cpp
// Each takes the next key of `g` (the thread's default generator when null): same seed, same bits,
// on any number of threads. No gradient flows into the parameters; see nn/distributions.h for
// rsample.
Tensor rand(const Shape& shape, DType dtype = f32, Generator* g = nullptr);   ///< uniform in [0, 1)
Tensor randn(const Shape& shape, DType dtype = f32, Generator* g = nullptr);  ///< N(0, 1)
Tensor uniform(const Shape& shape, double low, double high, DType dtype = f32,
               Generator* g = nullptr);  ///< in [low, high)
Tensor normal(double mean, double std, const Shape& shape, DType dtype = f32,
              Generator* g = nullptr);
Tensor rand_like(const Tensor& x, Generator* g = nullptr);
Tensor randn_like(const Tensor& x, Generator* g = nullptr);
Tensor randint(int64_t low, int64_t high, const Shape& shape,
               Generator* g = nullptr);  ///< [low, high)
Tensor randperm(int64_t n, Generator* g = nullptr);
/// 1 with probability p, else 0, elementwise; result has p's dtype. ValueError unless 0 <= p <= 1.
Tensor bernoulli(const Tensor& p, Generator* g = nullptr);
/// p (..., K) of weights >= 0 that need not sum to 1 -> i64 (..., n), indices in [0, K). An index
/// of weight 0 is never drawn. Without replacement the n indices of a row differ. ValueError on
/// negative, NaN or infinite weights, a row that sums to 0, or fewer positive weights than draws.
Tensor multinomial(const Tensor& p, int64_t n, bool replacement = false, Generator* g = nullptr);

// ------------------------------------------------------------------ unary.cpp, activation.cpp
Tensor neg(const Tensor& x);
Tensor abs(const Tensor& x);   ///< gradient sign(x): 0 at 0
Tensor sign(const Tensor& x);  ///< gradient 0
Tensor square(const Tensor& x);
Tensor reciprocal(const Tensor& x);
Tensor sqrt(const Tensor& x);  ///< gradient 0 at 0 (the true one is infinite)
Tensor rsqrt(const Tensor& x);
Tensor exp(const Tensor& x);
Tensor exp2(const Tensor& x);
Tensor expm1(const Tensor& x);
Tensor log(const Tensor& x);
Tensor log2(const Tensor& x);
Tensor log10(const Tensor& x);
Tensor log1p(const Tensor& x);
Tensor sin(const Tensor& x);
Tensor cos(const Tensor& x);
Tensor erf(const Tensor& x);
Tensor floor(const Tensor& x);  ///< gradient 0, as for ceil, round and trunc
Tensor ceil(const Tensor& x);
Tensor round(const Tensor& x);  ///< halves to even
Tensor trunc(const Tensor& x);
Tensor relu(const Tensor& x);  ///< gradient 0 at 0
Tensor tanh(const Tensor& x);
Tensor sigmoid(const Tensor& x);
Tensor log_sigmoid(const Tensor& x);
Tensor gelu(const Tensor& x);                   ///< x Phi(x), by erf. Hendrycks & Gimpel 2016
Tensor gelu_tanh(const Tensor& x);              ///< its tanh approximation
Tensor silu(const Tensor& x);                   ///< x sigmoid(x)
Tensor softplus(const Tensor& x);               ///< log(1 + exp(x))
Tensor mish(const Tensor& x);                   ///< x tanh(softplus(x))
Tensor elu(const Tensor& x, double alpha = 1);  ///< x above 0, alpha (exp(x) - 1) below
Tensor leaky_relu(const Tensor& x, double slope = 0.01);             ///< gradient slope at 0
Tensor hardtanh(const Tensor& x, double low = -1, double high = 1);  ///< gradient inside only
/// Limits to [low, high]; the gradient passes where low <= x <= high. NaN stays NaN.
Tensor clamp(const Tensor& x, Scalar low, Scalar high);

// ------------------------------------------------------------------ binary, atan2, remainder,
// comparison.cpp
Tensor add(const Tensor& a, const Tensor& b);
Tensor add(const Tensor& a, Scalar b);
Tensor sub(const Tensor& a, const Tensor& b);
Tensor sub(const Tensor& a, Scalar b);
Tensor mul(const Tensor& a, const Tensor& b);
Tensor mul(const Tensor& a, Scalar b);
Tensor div(const Tensor& a, const Tensor& b);  ///< integers give f32
Tensor div(const Tensor& a, Scalar b);
Tensor floor_divide(const Tensor& a, const Tensor& b);  ///< towards -inf; gradient 0
Tensor floor_divide(const Tensor& a, Scalar b);
Tensor maximum(const Tensor& a, const Tensor& b);  ///< a tie shares the gradient by halves
Tensor minimum(const Tensor& a, const Tensor& b);
/// a^b. Integers give integers, and raise ValueError for a negative exponent. d/da at a = 0 is 0
/// for b = 0, else the limit; d/db at a = 0 is 0; NaN only where the exponent of a negative base
/// itself wants a gradient.
Tensor pow(const Tensor& a, const Tensor& b);
Tensor pow(const Tensor& a, Scalar b);
Tensor atan2(const Tensor& y, const Tensor& x);  ///< the angle of (x, y); gradient 0 at the origin
/// a - b floor(a / b): the sign of b. Gradient 1 in a, -floor(a / b) in b.
Tensor remainder(const Tensor& a, const Tensor& b);
Tensor lerp(const Tensor& a, const Tensor& b, const Tensor& weight);  ///< a + weight (b - a)
Tensor lerp(const Tensor& a, const Tensor& b, double weight);

// bool results, no gradient
Tensor eq(const Tensor& a, const Tensor& b);
Tensor eq(const Tensor& a, Scalar b);
Tensor ne(const Tensor& a, const Tensor& b);
Tensor ne(const Tensor& a, Scalar b);
Tensor lt(const Tensor& a, const Tensor& b);
Tensor lt(const Tensor& a, Scalar b);
Tensor le(const Tensor& a, const Tensor& b);
Tensor le(const Tensor& a, Scalar b);
Tensor gt(const Tensor& a, const Tensor& b);
Tensor gt(const Tensor& a, Scalar b);
Tensor ge(const Tensor& a, const Tensor& b);
Tensor ge(const Tensor& a, Scalar b);
Tensor isnan(const Tensor& x);
Tensor isinf(const Tensor& x);
Tensor isfinite(const Tensor& x);
Tensor logical_not(const Tensor& a);
Tensor logical_and(const Tensor& a, const Tensor& b);
Tensor logical_or(const Tensor& a, const Tensor& b);
bool allclose(const Tensor& a, const Tensor& b, double rtol = 1e-5, double atol = 1e-8);
bool equal(const Tensor& a, const Tensor& b);  ///< same shape, dtype and elements

/// condition ? a : b, elementwise; what is not chosen cannot reach the result or a gradient.
Tensor where(const Tensor& condition, const Tensor& a, const Tensor& b);
Tensor masked_fill(const Tensor& x, const Tensor& mask,
                   Scalar value);  ///< value where mask is true

// ------------------------------------------------------------------ reduce, extreme, scan.cpp
// Empty axes mean all axes.
Tensor sum(const Tensor& x, const Axes& axes = {},
           bool keepdim = false);  ///< bool and i64 give i64
Tensor mean(const Tensor& x, const Axes& axes = {}, bool keepdim = false);  ///< floats only
/// Sum of squared deviations / (N - correction), two passes. Correction 1 is PyTorch's default.
Tensor var(const Tensor& x, const Axes& axes = {}, int64_t correction = 1, bool keepdim = false);
Tensor std(const Tensor& x, const Axes& axes = {}, int64_t correction = 1, bool keepdim = false);
/// Largest value over the axes; ties share the gradient evenly. NaN wins.
Tensor amax(const Tensor& x, const Axes& axes = {}, bool keepdim = false);
Tensor amin(const Tensor& x, const Axes& axes = {}, bool keepdim = false);
struct ValuesAndIndices {
  Tensor values, indices;
};
/// Largest value along one axis and where it is first; the gradient goes to that index.
ValuesAndIndices max(const Tensor& x, int64_t axis, bool keepdim = false);
ValuesAndIndices min(const Tensor& x, int64_t axis, bool keepdim = false);
Tensor max(const Tensor& x);  ///< over all elements, as amax
Tensor min(const Tensor& x);
Tensor argmax(const Tensor& x);  ///< of all elements, in row-major order; i64, the first of ties
Tensor argmax(const Tensor& x, int64_t axis, bool keepdim = false);
Tensor argmin(const Tensor& x);
Tensor argmin(const Tensor& x, int64_t axis, bool keepdim = false);
bool any(const Tensor& x);
bool all(const Tensor& x);
/// log(sum(exp(x))) without overflow; all -inf gives -inf and gradient 0.
Tensor logsumexp(const Tensor& x, const Axes& axes, bool keepdim = false);
Tensor cumsum(const Tensor& x, int64_t axis);
Tensor prod(const Tensor& x, const Axes& axes = {}, bool keepdim = false);
Tensor cumprod(const Tensor& x, int64_t axis);       ///< integers give f32
Tensor logcumsumexp(const Tensor& x, int64_t axis);  ///< its gradient costs N^2 along the axis
/// (sum |x|^p)^(1/p); p = 1, 2, infinity or any positive number. Scaled: neither overflows nor
/// vanishes. Gradient 0 where the norm is 0.
Tensor norm(const Tensor& x, double p = 2, const Axes& axes = {}, bool keepdim = false);

// ------------------------------------------------------------------ sort.cpp
// Stable; NaN counts as the largest; the gradient goes to the elements that were chosen.
ValuesAndIndices sort(const Tensor& x, int64_t axis = -1, bool descending = false);
Tensor argsort(const Tensor& x, int64_t axis = -1, bool descending = false);
ValuesAndIndices topk(const Tensor& x, int64_t k, int64_t axis = -1, bool largest = true);
/// The k-th smallest, k from 1.
ValuesAndIndices kthvalue(const Tensor& x, int64_t k, int64_t axis = -1, bool keepdim = false);
Tensor unique(const Tensor& x);  ///< of integers or bools: sorted, each once

// ------------------------------------------------------------------ matmul.cpp
/// (..., M, K) @ (..., K, N) with broadcast batches; a vector operand loses its axis as in PyTorch.
/// Transposed views need not be made contiguous first. K = 0 gives zeros.
Tensor matmul(const Tensor& a, const Tensor& b);
/// x (..., I) @ weight (O, I)' + bias (O): one product, bias may be undefined.
Tensor linear(const Tensor& x, const Tensor& weight, const Tensor& bias = {});
Tensor dot(const Tensor& a, const Tensor& b);    ///< of two vectors
Tensor outer(const Tensor& a, const Tensor& b);  ///< (M), (N) -> (M, N)
Tensor bmm(const Tensor& a, const Tensor& b);    ///< (B, M, K), (B, K, N) -> (B, M, N)
/// Sums of products named by letters, "bqd,bkd->bqk": any number of operands, repeated letters (a
/// diagonal), "..." for leading axes; without an arrow the letters that occur once are kept. See
/// einsum.cpp.
Tensor einsum(const std::string& equation, const Tensors& operands);

// ------------------------------------------------------------------ view.cpp: these share storage
Tensor view(const Tensor& x, const Shape& shape);  ///< ShapeError when strides do not allow it
Tensor reshape(const Tensor& x,
               const Shape& shape);  ///< a view where possible, else a copy; one -1
Tensor flatten(const Tensor& x, int64_t start = 0, int64_t end = -1);
Tensor transpose(const Tensor& x, int64_t a, int64_t b);
Tensor permute(const Tensor& x, const Axes& order);
Tensor squeeze(const Tensor& x);
Tensor squeeze(const Tensor& x, int64_t axis);
Tensor unsqueeze(const Tensor& x, int64_t axis);
Tensor expand(const Tensor& x, const Shape& shape);
Tensor broadcast_to(const Tensor& x, const Shape& shape);
Tensor select(const Tensor& x, int64_t axis, int64_t index);
Tensor slice(const Tensor& x, int64_t axis, int64_t start = 0, int64_t end = kEnd,
             int64_t step = 1);
Tensor narrow(const Tensor& x, int64_t axis, int64_t start, int64_t length);
Tensors split(const Tensor& x, int64_t size, int64_t axis = 0);
Tensors split(const Tensor& x, const std::vector<int64_t>& sizes, int64_t axis = 0);
Tensors chunk(const Tensor& x, int64_t chunks, int64_t axis = 0);
Tensors unbind(const Tensor& x, int64_t axis = 0);

// ------------------------------------------------------------------ copy.cpp, join.cpp
Tensor contiguous(const Tensor& x);  ///< itself when it is
Tensor clone(const Tensor& x);
Tensor to(const Tensor& x, DType dtype);  ///< itself when it is; gradients convert back
Tensor cat(const Tensors& xs, int64_t axis = 0);
Tensor stack(const Tensors& xs, int64_t axis = 0);
Tensor flip(const Tensor& x, const Axes& axes);
Tensor repeat(const Tensor& x, const Shape& times);

// ------------------------------------------------------------------ arrange.cpp
Tensor roll(const Tensor& x, int64_t shift, int64_t axis);
/// pads: (before, after) of the last axis, then of the one before, ...; negative ones crop.
Tensor pad(const Tensor& x, const std::vector<int64_t>& pads, double value = 0);
/// Windows of `size` elements every `step`: (.., N, ..) -> (.., windows, .., size).
Tensor unfold(const Tensor& x, int64_t axis, int64_t size, int64_t step);
Tensor diag(const Tensor& x, int64_t k = 0);  ///< vector -> matrix, matrix -> its diagonal k
Tensor tril(const Tensor& x, int64_t k = 0);  ///< zeros above diagonal k of (..., M, N)
Tensor triu(const Tensor& x, int64_t k = 0);  ///< zeros below it
Tensor repeat_interleave(const Tensor& x, int64_t times, int64_t axis);
Tensors meshgrid(const Tensors& xs);  ///< vectors -> grids of shape (N1, N2, ...), "ij" order

// ------------------------------------------------------------------ index.cpp, embedding.cpp
/// out[i][j] = x[index[i][j]][j] for axis 0, and so on; index is i64 of x's rank.
Tensor gather(const Tensor& x, int64_t axis, const Tensor& index);
/// x with src added at index along the axis; entries that meet add up, in a fixed order.
Tensor scatter_add(const Tensor& x, int64_t axis, const Tensor& index, const Tensor& src);
Tensor index_select(const Tensor& x, int64_t axis, const Tensor& index);
/// weight (V, D), ids i64 of any shape -> ids.shape + (D). Rows with padding_idx get no gradient.
Tensor embedding(const Tensor& weight, const Tensor& ids, int64_t padding_idx = -1);
/// i64 (...) -> i64 (..., classes)
Tensor one_hot(const Tensor& x, int64_t classes);
Tensor masked_select(const Tensor& x,
                     const Tensor& mask);  ///< (number of true), in row-major order
/// x with src written at index along the axis, the last of equal indices winning.
Tensor scatter(const Tensor& x, int64_t axis, const Tensor& index, const Tensor& src);
/// x with values (N, rest) added at the rows index (N) of the first axis.
Tensor index_put_add(const Tensor& x, const Tensor& index, const Tensor& values);

// ------------------------------------------------------------------ softmax.cpp, layer_norm.cpp
Tensor softmax(const Tensor& x, int64_t axis = -1);
Tensor log_softmax(const Tensor& x, int64_t axis = -1);
/// Normalises the last axis with the biased variance: (x - mean) / sqrt(var + eps) * weight + bias.
/// weight and bias (D) may be undefined. Ba 2016.
Tensor layer_norm(const Tensor& x, const Tensor& weight = {}, const Tensor& bias = {},
                  double eps = 1e-5);
/// x / sqrt(mean(x^2) + eps) * weight over the last axis. Zhang & Sennrich 2019.
Tensor rms_norm(const Tensor& x, const Tensor& weight = {}, double eps = 1e-6);
/// x (B, C, ...) normalised over everything but C: with the batch's biased variance when training,
/// else with the running ones. Training moves running (C, may be undefined) by `momentum` towards
/// the batch's mean and unbiased variance. Ioffe & Szegedy 2015.
struct BatchNormOptions {
  bool training = true;
  double momentum = 0.1;
  double eps = 1e-5;
};
Tensor batch_norm(const Tensor& x, const Tensor& running_mean, const Tensor& running_var,
                  const Tensor& weight = {}, const Tensor& bias = {},
                  const BatchNormOptions& o = {});
/// x (B, C, ...) normalised over C / groups channels and all positions. Wu & He 2018.
Tensor group_norm(const Tensor& x, int64_t groups, const Tensor& weight = {},
                  const Tensor& bias = {}, double eps = 1e-5);

// ------------------------------------------------------------------ sparse.cpp
Tensor sparsemax(const Tensor& x, int64_t axis = -1);  ///< Martins & Astudillo 2016
Tensor entmax15(const Tensor& x, int64_t axis = -1);   ///< Peters et al. 2019, alpha 1.5
/// softmax((x + Gumbel noise) / tau); hard: exactly one 1 forward, the soft gradient backward.
/// ValueError unless tau > 0. Jang 2016; Maddison 2016.
Tensor gumbel_softmax(const Tensor& x, double tau = 1, bool hard = false, int64_t axis = -1,
                      Generator* g = nullptr);
/// The same with noise that was drawn before; it broadcasts against x.
Tensor gumbel_softmax(const Tensor& x, const Tensor& noise, double tau, bool hard = false,
                      int64_t axis = -1);

// ------------------------------------------------------------------ conv.cpp, pool.cpp, sample.cpp
struct ConvOptions {
  std::array<int64_t, 2> stride{1, 1}, padding{0, 0}, dilation{1, 1};
  int64_t groups = 1;
  std::array<int64_t, 2> output_padding{0, 0};  ///< of conv_transpose2d
};
/// x (B, C, H, W), weight (O, C / groups, kh, kw), bias (O) -> (B, O, Ho, Wo)
Tensor conv2d(const Tensor& x, const Tensor& weight, const Tensor& bias = {},
              const ConvOptions& o = {});
/// x (B, C, T), weight (O, C / groups, k), with the first of each option.
Tensor conv1d(const Tensor& x, const Tensor& weight, const Tensor& bias = {},
              const ConvOptions& o = {});
/// x (B, C, H, W), weight (C, O / groups, kh, kw), bias (O): the transpose of conv2d.
Tensor conv_transpose2d(const Tensor& x, const Tensor& weight, const Tensor& bias = {},
                        const ConvOptions& o = {});
struct PoolOptions {
  std::array<int64_t, 2> kernel{2, 2}, stride{0, 0}, padding{0, 0};  ///< stride 0: as the kernel
};
Tensor max_pool2d(const Tensor& x, const PoolOptions& o = {});  ///< first of ties
Tensor avg_pool2d(const Tensor& x, const PoolOptions& o = {});  ///< counts zeros of the padding
/// x (B, C, H, W) at grid (B, h, w, 2) of (x, y) in [-1, 1], bilinear, 0 outside: differentiable in
/// the pixels and in where they are looked at. Jaderberg 2015.
Tensor grid_sample(const Tensor& x, const Tensor& grid, bool align_corners = false);
Tensor affine_grid(const Tensor& theta, int64_t h, int64_t w, bool align_corners = false);
enum class Interpolation { nearest, bilinear };
Tensor interpolate(const Tensor& x, int64_t h, int64_t w,
                   Interpolation mode = Interpolation::nearest, bool align_corners = false);

// ------------------------------------------------------------------ losses: loss.cpp,
// cross_entropy.cpp
enum class Reduction { mean, sum, none };
struct CrossEntropyOptions {
  int64_t ignore_index = -100;  ///< targets that count neither in the sum nor in the mean
  double label_smoothing = 0;   ///< in [0, 1]
  Reduction reduction = Reduction::mean;
  Tensor weight = {};  ///< (V): what a target of each class counts; constants
};
/// logits (..., V), target i64 (...) -> scalar, or (...) unreduced. The mean divides by the weights
/// of the targets that count; over no target it is 0.
Tensor cross_entropy(const Tensor& logits, const Tensor& target, const CrossEntropyOptions& o = {});
struct NllOptions {
  int64_t ignore_index = -100;
  Reduction reduction = Reduction::mean;
  Tensor weight = {};  ///< (V), as for cross_entropy
};
/// log_probs (..., V) as log_softmax gives them, target i64 (...).
Tensor nll_loss(const Tensor& log_probs, const Tensor& target, const NllOptions& o = {});
Tensor mse_loss(const Tensor& x, const Tensor& target, Reduction r = Reduction::mean);
/// -[t log sigmoid(x) + (1 - t) log(1 - sigmoid(x))], stable for any x.
Tensor binary_cross_entropy_with_logits(const Tensor& x, const Tensor& target,
                                        Reduction r = Reduction::mean);
/// -[t log p + (1 - t) log(1 - p)] of probabilities, logarithms kept above -100.
Tensor binary_cross_entropy(const Tensor& p, const Tensor& target, Reduction r = Reduction::mean);
Tensor l1_loss(const Tensor& x, const Tensor& target, Reduction r = Reduction::mean);
/// d^2 / 2 for |d| <= delta, else delta (|d| - delta / 2).
Tensor huber_loss(const Tensor& x, const Tensor& target, double delta = 1,
                  Reduction r = Reduction::mean);
/// target (log target - log_x), log_x being log-probabilities; 0 where target is 0. The mean is
/// over all elements, as PyTorch's default.
Tensor kl_div(const Tensor& log_x, const Tensor& target, Reduction r = Reduction::mean);

// ------------------------------------------------------------------ attention.cpp
/// softmax over the last axis of what keep (bool, true = take part; broadcasts to x) keeps of x:
/// the rest gets 0, and so does a row of which nothing is kept. What is masked gets gradient 0.
Tensor masked_softmax(const Tensor& x, const Tensor& keep);

/// Which keys a query may see by position. With lower_right the last query sees the last key: query
/// i sees keys j <= i + Tk - Tq; with upper_left query i sees keys j <= i. For Tq = Tk the same.
enum class Causal { none, lower_right, upper_left };
struct AttentionOptions {
  Tensor keep_mask = {};  ///< bool, true = attend; broadcasts to (..., H, Tq, Tk)
  /// Added to the scaled scores; broadcasts to (..., H, Tq, Tk). Has a gradient. With it all
  /// weights are stored, Tq x Tk a head.
  Tensor bias = {};
  Causal causal = Causal::none;
  /// Only keys at most this far from the query, |p - j| <= window. Query i stands at
  /// p = i + Tk - Tq, with upper_left at p = i. Longformer: Beltagy 2020.
  std::optional<int64_t> window = {};
  std::optional<double> scale = {};  ///< of the scores; 1 / sqrt(D) when not set
  double dropout = 0;                ///< probability with which a weight is dropped
  Generator* generator = nullptr;    ///< of the dropout; the thread's default when null
};
/// softmax(scale q k') v. q (..., H, Tq, D), k (..., Hk, Tk, D), v (..., Hk, Tk, Dv) -> (..., H,
/// Tq, Dv), for any leading axes, or none; H may be a multiple of Hk: neighbouring heads then share
/// keys. A query that may see no key gets 0 and contributes 0 to every gradient; keys that no query
/// sees cannot reach the result, NaN included. Vaswani 2017, eq. 1; grouped heads: Ainslie 2023.
Tensor scaled_dot_product_attention(const Tensor& q, const Tensor& k, const Tensor& v,
                                    const AttentionOptions& o = {});
/// The weights alone, (..., H, Tq, Tk), before dropout.
Tensor attention_weights(const Tensor& q, const Tensor& k, const AttentionOptions& o = {});

// ------------------------------------------------------------------ sparse_attention.cpp
/// As scaled_dot_product_attention with another map from scores to weights, under which many are
/// exactly 0. Martins 2016; Peters 2019.
Tensor sparsemax_attention(const Tensor& q, const Tensor& k, const Tensor& v,
                           const AttentionOptions& o = {});
Tensor entmax15_attention(const Tensor& q, const Tensor& k, const Tensor& v,
                          const AttentionOptions& o = {});

// ------------------------------------------------------------------ additive_scores.cpp
/// v' tanh(q_i + k_j): q (..., Tq, h), k (..., Tk, h), v (h) -> (..., Tq, Tk). The sum over h is
/// taken as it goes: no (Tq, Tk, h) is stored in either direction. Bahdanau 2014.
Tensor additive_scores(const Tensor& q, const Tensor& k, const Tensor& v);

// ------------------------------------------------------------------ linear_attention.cpp
struct LinearAttentionOptions {
  Tensor keep_mask = {};  ///< bool, true = attend; of keys: broadcasts to (..., H, Tk)
  bool causal = false;    ///< lower-right: query i sees keys j <= i + Tk - Tq
};
/// y_i = fq_i' S_i / fq_i' z_i, S_i = sum_j fk_j v_j', z_i = sum_j fk_j over the keys that i sees:
/// attention whose scores are products of features, in time linear in Tq + Tk. fq (..., Tq, M),
/// fk (..., Tk, M), v (..., Tk, Dv) -> (..., Tq, Dv). A query that sees no key gets 0. Features
/// are meant to be positive. Katharopoulos 2020, eq. 4 to 9; backward with a state of M x Dv.
Tensor feature_attention(const Tensor& fq, const Tensor& fk, const Tensor& v,
                         const LinearAttentionOptions& o = {});
/// feature_attention with phi(x) = elu(x) + 1. Katharopoulos 2020.
Tensor linear_attention(const Tensor& q, const Tensor& k, const Tensor& v,
                        const LinearAttentionOptions& o = {});
/// (m, d) directions for performer_attention: Gaussian lengths, orthogonal in blocks of d rows.
Tensor orthogonal_features(int64_t m, int64_t d, DType dtype = f32, Generator* g = nullptr);
/// feature_attention with phi(x) = exp(w'x - |x|^2 / 2) / sqrt(m) of x = q / D^(1/4): an unbiased
/// estimate of softmax attention. w (m, D). Choromanski 2021, eq. 5.
Tensor performer_attention(const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& w,
                           const LinearAttentionOptions& o = {});

// ------------------------------------------------------------------ nystrom_attention.cpp
struct NystromOptions {
  Tensor keep_mask = {};   ///< bool, true = attend; of keys: broadcasts to (..., H, Tk)
  int64_t landmarks = 16;  ///< tokens that stand for all; at most the number of tokens
  int iterations = 20;     ///< of Newton's method for the inverse
};
/// SOFT, attention without softmax: weights exp(-|q_i - k_j|^2 / (2 sqrt D)), approximated through
/// landmarks. Lu 2021. Shapes as scaled_dot_product_attention.
Tensor soft_attention_nystrom(const Tensor& q, const Tensor& k, const Tensor& v,
                              const NystromOptions& o = {});

// ------------------------------------------------------------------ rope.cpp
/// Which elements form the pairs that are turned: neighbours (2i, 2i + 1), or (i, i + D / 2).
enum class RopePairing { interleaved, half };
/// Turns pair i of x (..., T, D) by angle[..., i], angle (..., T, D / 2) without gradient, which
/// broadcasts. Rotary position embedding: Su 2021, eq. 34.
Tensor rope(const Tensor& x, const Tensor& angle, RopePairing pairing = RopePairing::interleaved);

// ------------------------------------------------------------------ rnn.cpp, lstm.cpp, gru.cpp
/// One direction of one recurrent layer. G gates: 1 in rnn, 4 in lstm (i, f, g, o), 3 in gru
/// (r, z, n), in the order of PyTorch's weights.
struct RecurrentWeights {
  Tensor weight_ih = {};              ///< (G H, I)
  Tensor weight_hh = {};              ///< (G H, H)
  Tensor bias_ih = {}, bias_hh = {};  ///< (G H) each, or undefined
};
struct RecurrentOptions {
  Tensor lengths = {};   ///< i64 (B), from 0 to T: the steps of each sequence; undefined: all T
  bool reverse = false;  ///< read each sequence from its last step to its first
};
/// x (B, T, I), h0 (B, H) -> the state after each step, (B, T, H): h_t = tanh(W_ih x_t + b_ih +
/// W_hh h_{t-1} + b_hh). Steps at and beyond a sequence's length keep the state as it was, whatever
/// x holds there, NaN included: the last state is at t = T - 1, in reverse at t = 0. One node for
/// all steps. Elman 1990.
///
/// This one and the three below: ShapeError when x, a state, the weights or lengths do not fit,
/// DTypeError unless all are floating and lengths i64, ValueError for a length outside [0, T].
Tensor rnn(const Tensor& x, const Tensor& h0, const RecurrentWeights& w,
           const RecurrentOptions& o = {});
/// As rnn with relu for tanh.
Tensor rnn_relu(const Tensor& x, const Tensor& h0, const RecurrentWeights& w,
                const RecurrentOptions& o = {});
/// x (B, T, I), h0 and c0 (B, H) -> (2, B, T, H), the states h and the cells c. Hochreiter &
/// Schmidhuber 1997, with the forget gate of Gers 2000.
Tensor lstm(const Tensor& x, const Tensor& h0, const Tensor& c0, const RecurrentWeights& w,
            const RecurrentOptions& o = {});
/// x (B, T, I), h0 (B, H) -> (B, T, H). Cho 2014, with the bias of the state inside the product
/// with the reset gate, as PyTorch has it.
Tensor gru(const Tensor& x, const Tensor& h0, const RecurrentWeights& w,
           const RecurrentOptions& o = {});

// ------------------------------------------------------------------ dropout.cpp
/// Zeroes elements with probability p and scales the rest by 1 / (1 - p); the identity when not
/// training. p = 1 gives zeros. The mask is replayed from its key, never stored. Srivastava 2014.
Tensor dropout(const Tensor& x, double p, bool training = true, Generator* g = nullptr);

}  // namespace fovea
