#include "fovea/nn/attention/local.h"

#include <fmt/format.h>

#include <utility>

#include "fovea/core/error.h"
#include "fovea/nn/attention/detail/soft_mask.h"
#include "fovea/ops/ops.h"

namespace fovea {
namespace {

constexpr const char* kLocalAttention = "LocalAttention";

LocalAttentionOptions complete(LocalAttentionOptions o) {
  const bool predicted = o.centre == LocalCentre::predicted;
  if (o.window < (predicted ? 1 : 0)) {
    throw ValueError(fmt::format("{}: window is {}; it must be at least {}", kLocalAttention,
                                 o.window, predicted ? "1, as sigma = window / 2" : "0"));
  }
  if (o.hidden == 0) o.hidden = o.query_dim;
  if (predicted && (o.query_dim < 1 || o.hidden < 1)) {
    throw ValueError(
        fmt::format("{}: query_dim is {}, hidden is {}; to predict a place both must be at least 1",
                    kLocalAttention, o.query_dim, o.hidden));
  }
  return o;
}

// first, first + 1, ... as n floats.
Tensor counted(int64_t first, int64_t n, DType t) { return to(arange(first, first + n), t); }

// The number of words of each sentence, (B or 1, 1, 1).
Tensor lengths_of(const Tensor& words, int64_t tk, DType t) {
  if (!words.defined()) return full({1, 1, 1}, static_cast<double>(tk), t);
  return to(sum(words, 2, keepdim), t);  // bools are counted in i64
}

}  // namespace

LocalAttention::LocalAttention(std::shared_ptr<Score> s, const LocalAttentionOptions& o)
    : score(std::move(s)), o_(complete(o)) {
  if (!score) throw ValueError("LocalAttention: score is null; pass one, as of make_score()");
  if (o_.centre == LocalCentre::monotonic) return;
  w.emplace(LinearOptions{.in = o_.query_dim, .out = o_.hidden, .bias = false, .dtype = o_.dtype});
  v.emplace(LinearOptions{.in = o_.hidden, .out = 1, .bias = false, .dtype = o_.dtype});
}

Tensor LocalAttention::predict(const Tensor& q, const Tensor& lengths) const {
  if (!w) {
    throw ValueError("LocalAttention: centre is monotonic; only predicted has a place to predict");
  }
  return lengths * sigmoid((*v)(tanh((*w)(q))));
}

LocalAttention::Window LocalAttention::window(const Tensor& q, int64_t tk, const Tensor& words,
                                              int64_t first_step) const {
  const bool predicted = o_.centre == LocalCentre::predicted;
  const int64_t tq = q.size(1);
  const DType t = q.dtype();
  if (predicted && q.size(2) != o_.query_dim) {
    throw ShapeError(fmt::format("{}: q is {}; need (B, Tq, {})", kLocalAttention, q.shape().str(),
                                 o_.query_dim));
  }
  const Tensor centre = predicted ? predict(q, lengths_of(words, tk, t))
                                  : reshape(counted(first_step, tq, t), {1, tq, 1});
  const Tensor away = counted(0, tk, t) - centre;
  const Tensor near = abs(away.detach()) <= static_cast<double>(o_.window);
  return {words.defined() ? logical_and(near, words) : near, away};
}

Tensor LocalAttention::weights(const Tensor& scores, const Window& window) const {
  const Tensor a = masked_softmax(scores, window.keep);
  if (o_.centre == LocalCentre::monotonic) return a;
  const double sigma = static_cast<double>(o_.window) / 2;
  return a * exp(square(window.away) * (-1 / (2 * sigma * sigma)));
}

SoftAttended LocalAttention::operator()(const Tensor& q, const Tensor& keys, const Tensor& values,
                                        const Tensor& keep_mask, int64_t first_step) const {
  detail::check_soft_attention(kLocalAttention, q, keys, values);
  const Tensor words =
      detail::keep_mask_of_words(kLocalAttention, keep_mask, q.size(0), keys.size(1));
  const Window w = window(q, keys.size(1), words, first_step);
  const Tensor a = weights((*score)(q, detail::without_unseen_keys(keys, w.keep)), w);
  return {matmul(a, detail::without_unseen_keys(values, w.keep)), a};
}

SoftAttended LocalAttention::attend(const Tensor& q, const AttentionSource& source,
                                    int64_t first_step) const {
  detail::check_soft_attention(kLocalAttention, q, source.keys, source.values);
  const Tensor words = source.keep_mask.defined() ? unsqueeze(source.keep_mask, 1) : Tensor();
  const Window w = window(q, source.keys.size(1), words, first_step);
  const Tensor keys = detail::without_unseen_keys(source.keys, w.keep);
  const Tensor a = weights(score->with_projected(q, keys), w);
  return {matmul(a, detail::without_unseen_keys(source.values, w.keep)), a};
}

// A word that is no number may lie outside every window. Its gradient is 0 then, which must not
// meet it in the score's parameters, as 0 * NaN is NaN: such words are projected apart, without a
// graph.
Tensor LocalAttention::project(const Tensor& keys) const {
  const Tensor sound = sum(logical_not(isfinite(keys.detach())), 2, keepdim) == 0;  // (B, Tk, 1)
  if (all(sound)) return score->project(keys);
  const Tensor zero = zeros({}, keys.dtype());
  const Tensor numbers = score->project(where(sound, keys, zero));
  return where(sound, numbers, score->project(keys.detach()).detach());
}

void LocalAttention::visit(Visitor& visitor) {
  visitor("score", score);
  visitor("w", w);
  visitor("v", v);
}

}  // namespace fovea
