#include "fovea/nn/attention/score.h"

#include <fmt/format.h>

#include <string>

#include "fovea/core/error.h"
#include "fovea/nn/attention/additive_scores.h"
#include "fovea/nn/attention/location_score.h"
#include "fovea/nn/attention/product_scores.h"

namespace fovea {

Score::Score(const char* name, int64_t query_dim, int64_t key_dim)
    : name_(name), query_dim_(query_dim), key_dim_(key_dim) {}

int64_t Score::at_least_1(const char* name, const char* what, int64_t n) {
  if (n >= 1) return n;
  throw ValueError(fmt::format("{}: {} is {}; it must be at least 1", name, what, n));
}

void Score::check(const char* arg, const char* time, const Tensor& x, int64_t width) const {
  const std::string last = width > 0 ? std::to_string(width) : "D";
  if (!x.defined() || x.dim() != 3 || (width > 0 && x.size(2) != width)) {
    throw ShapeError(fmt::format("{}: {} is {}; need (B, {}, {})", name_, arg,
                                 x.defined() ? x.shape().str() : "undefined", time, last));
  }
  if (!x.is_floating()) {
    throw DTypeError(fmt::format("{}: {} is {} {}; floats are needed, convert with to(f32)", name_,
                                 arg, fovea::name(x.dtype()), x.shape().str()));
  }
}

void Score::check_pair(const Tensor& q, const char* arg, const Tensor& k) const {
  check("q", "Tq", q, query_dim_);
  const bool same_width = query_dim_ > 0 || q.size(2) == k.size(2);
  if (q.size(0) == k.size(0) && same_width) return;
  throw ShapeError(fmt::format("{}: q is {}, {} is {}; need equal batches{}", name_,
                               q.shape().str(), arg, k.shape().str(),
                               same_width ? "" : " and widths"));
}

Tensor Score::project(const Tensor& keys) const {
  check("keys", "Tk", keys, key_dim_);
  return of_keys(keys);
}

Tensor Score::with_projected(const Tensor& q, const Tensor& projected) const {
  check("projected", "Tk", projected, 0);
  check_pair(q, "projected", projected);
  return scores(q, projected);
}

Tensor Score::operator()(const Tensor& q, const Tensor& keys) const {
  check("keys", "Tk", keys, key_dim_);
  check_pair(q, "keys", keys);
  return scores(q, of_keys(keys));
}

std::unique_ptr<Score> make_score(std::string_view kind, const ScoreOptions& o) {
  const bool one_width = kind == "dot" || kind == "scaled_dot" || kind == "cosine";
  if (one_width && o.query_dim != o.key_dim) {
    throw ValueError(fmt::format(
        "make_score: query_dim is {}, key_dim is {}; {} needs equal widths, \"general\" does not",
        o.query_dim, o.key_dim, kind));
  }
  if (kind == "dot") return std::make_unique<DotScore>();
  if (kind == "scaled_dot") return std::make_unique<ScaledDotScore>();
  if (kind == "cosine") return std::make_unique<CosineScore>(CosineScoreOptions{.dtype = o.dtype});
  if (kind == "general") {
    return std::make_unique<GeneralScore>(
        GeneralScoreOptions{.query_dim = o.query_dim, .key_dim = o.key_dim, .dtype = o.dtype});
  }
  const AdditiveScoreOptions hidden{
      .query_dim = o.query_dim, .key_dim = o.key_dim, .hidden = o.hidden, .dtype = o.dtype};
  if (kind == "additive") return std::make_unique<AdditiveScore>(hidden);
  if (kind == "concat") return std::make_unique<ConcatScore>(hidden);
  if (kind == "location") {
    return std::make_unique<LocationScore>(LocationScoreOptions{
        .query_dim = o.query_dim, .max_length = o.max_length, .dtype = o.dtype});
  }
  throw ValueError(fmt::format(
      "make_score: kind is \"{}\"; use dot, scaled_dot, cosine, general, additive, concat or "
      "location; make_source_attention() knows local-m and local-p too",
      kind));
}

}  // namespace fovea
