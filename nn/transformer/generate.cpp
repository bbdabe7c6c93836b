#include "fovea/nn/transformer/generate.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "fovea/core/error.h"
#include "fovea/nn/transformer/detail/ids.h"
#include "fovea/ops/ops.h"

namespace fovea {

Tensor LanguageDecoding::next(const Tensor& ids) {
  const NoGrad scope;
  read_ = read_.defined() ? cat({read_, ids}, 1) : ids;
  const int64_t room = model_.context();
  Tensor fresh = ids;
  if (read_.size(1) > room) {  // positions move: what was kept is of no use
    read_ = read_.narrow(1, read_.size(1) - room, room).contiguous();
    cache_.clear();
    fresh = read_;
  }
  return model_.logits(fovea::select(model_.hidden(fresh, &cache_), 1, -1));
}

void LanguageDecoding::select(const Tensor& rows) {
  cache_.select(rows);
  if (read_.defined()) read_ = index_select(read_, 0, rows);
}

Tensor sample_token(const Tensor& logits, const SampleOptions& o, Generator* g) {
  if (!(o.temperature >= 0) || o.top_k < 0 || !(o.top_p > 0 && o.top_p <= 1)) {
    throw ValueError(fmt::format(
        "sample_token: temperature is {}, top_k is {}, top_p is {}; need at least 0, at "
        "least 0, and from above 0 to 1",
        o.temperature, o.top_k, o.top_p));
  }
  const NoGrad scope;
  if (logits.dim() == 0 || logits.size(-1) == 0) {
    throw ShapeError(fmt::format(
        "sample_token: logits is {}; need (..., V) with at least one token", logits.shape().str()));
  }
  if (o.temperature == 0) {
    if (!all(amax(logits, -1) > -std::numeric_limits<double>::infinity())) {
      throw ValueError(
          "sample_token: a row of logits has NaN, or is -inf alone; none is likeliest");
    }
    return argmax(logits, -1);
  }
  const int64_t v = logits.size(-1), k = o.top_k == 0 ? v : std::min(o.top_k, v);
  const ValuesAndIndices best = topk(logits, k, -1);  // largest first
  // In double, and with the largest at 0: a small temperature must not overflow.
  const Tensor top = best.values.narrow(-1, 0, 1);
  Tensor p = softmax(to(best.values - top, f64) / o.temperature, -1);
  if (o.top_p < 1) {
    const Tensor before = cumsum(p, -1) - p;
    p = where(before < o.top_p, p, zeros({}, f64));
  }
  return squeeze(gather(best.indices, -1, multinomial(p, 1, false, g)), -1);
}

Tensor generate(Decoding& decoding, const Tensor& prompt, const GenerateOptions& o) {
  detail::check_prompt("generate", prompt, o.max_tokens);
  Tensor all = prompt, fresh = prompt;
  Tensor ended = zeros({prompt.size(0)}, boolean);
  for (int64_t n = 0; n < o.max_tokens; ++n) {
    Tensor token = sample_token(decoding.next(fresh), o.sample, o.generator);
    if (o.stop) {
      token = where(ended, full({}, *o.stop, i64), token);
      ended = logical_or(ended, token == *o.stop);
    }
    fresh = unsqueeze(token, 1);
    all = cat({all, fresh}, 1);
    if (o.stop && fovea::all(ended)) break;
  }
  return all;
}

Tensor generate(const LanguageModel& model, const Tensor& prompt, const GenerateOptions& o) {
  LanguageDecoding decoding(model);
  return generate(decoding, prompt, o);
}

}  // namespace fovea
