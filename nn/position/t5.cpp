#include "fovea/nn/position/t5.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "fovea/core/error.h"
#include "fovea/nn/init.h"
#include "fovea/nn/position/distance.h"
#include "fovea/ops/ops.h"

namespace fovea {
namespace {

void check(const T5BiasOptions& o) {
  const int64_t directions = o.bidirectional ? 2 : 1, exact = o.buckets / directions / 2;
  if (o.heads >= 1 && exact >= 1 && o.buckets % directions == 0 && o.max_distance > exact) return;
  throw ValueError(fmt::format(
      "T5Bias: heads is {}, buckets is {}, max_distance is {}; need heads >= 1, {}, and a "
      "max_distance above {}",
      o.heads, o.buckets, o.max_distance,
      o.bidirectional ? "an even number of buckets from 4 on" : "at least 2 buckets",
      o.bidirectional ? "buckets / 4" : "buckets / 2"));
}

}  // namespace

int64_t t5_bucket(int64_t distance, const T5BiasOptions& o) {
  check(o);
  const int64_t count = o.bidirectional ? o.buckets / 2 : o.buckets;
  const int64_t first = o.bidirectional && distance > 0 ? count : 0;
  const int64_t n = o.bidirectional ? std::abs(distance) : std::max<int64_t>(-distance, 0);
  const int64_t exact = count / 2;
  if (n < exact) return first + n;
  const auto ratio = [exact](int64_t far) {
    return std::log(static_cast<double>(far) / static_cast<double>(exact));
  };
  const double share = ratio(n) / ratio(o.max_distance);
  const auto further = static_cast<int64_t>(share * static_cast<double>(count - exact));
  return first + std::min(exact + further, count - 1);
}

T5Bias::T5Bias(const T5BiasOptions& o) : o_(o) {
  check(o);
  weight = Tensor::empty({o.buckets, o.heads}, o.dtype);
  init::normal_(weight);
  weight.requires_grad_();
}

Tensor T5Bias::forward(int64_t tq, int64_t tk) const {
  const Tensor distance = distances(tq, tk);  // from 1 - tk to tq - 1, each many times
  std::vector<int64_t> bucket;
  for (int64_t d = 1 - tk; d < tq; ++d) bucket.push_back(t5_bucket(d, o_));
  const Tensor by_distance = from_vector(bucket, {static_cast<int64_t>(bucket.size())});
  const Tensor at = index_select(by_distance, 0, reshape(distance + (tk - 1), {tq * tk}));
  return reshape(index_select(transpose(weight, 0, 1), 1, at), {o_.heads, tq, tk});
}

}  // namespace fovea
