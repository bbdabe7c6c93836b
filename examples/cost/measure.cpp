#include "examples/cost/measure.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "examples/common/stopwatch.h"
#include "fovea/core/allocator.h"
#include "fovea/core/engine.h"
#include "fovea/ops/ops.h"

namespace fovea::cost {
namespace {

struct Input {
  Tensor q, k, v, gy;  // (1, H, T, D)

  Input(const Sizes& s, int64_t t) {
    for (Tensor* x : {&q, &k, &v, &gy}) *x = randn({1, s.heads, t, s.dim});
    for (Tensor* x : {&q, &k, &v}) x->requires_grad_();
  }
};

struct Cost {
  double seconds, bytes;
};

Cost one_pass(const Method& method, const Input& in) {
  reset_peak_memory();
  const int64_t before = memory_stats().live_bytes;
  examples::Stopwatch watch;
  {
    const Tensor y = method.attend(in.q, in.k, in.v);
    grad(y, {in.q, in.k, in.v}, {.upstream = in.gy});
  }
  const double seconds = watch.lap();
  return {seconds, static_cast<double>(memory_stats().peak_bytes - before)};
}

// The median time. The first pass also pays for fresh memory and for waking threads; the last is
// that of a steady state in bytes as well.
Cost passes(const Method& method, const Input& in, int64_t repeats) {
  one_pass(method, in);
  std::vector<double> seconds;
  double bytes = 0;
  for (int64_t i = 0; i < repeats; ++i) {
    const Cost c = one_pass(method, in);
    seconds.push_back(c.seconds);
    bytes = c.bytes;
  }
  const auto middle = seconds.begin() + repeats / 2;
  std::nth_element(seconds.begin(), middle, seconds.end());
  return {*middle, bytes};
}

// The next value of a series at doubled T, which grows at least linearly and at most as T^2.
double foreseen(const std::vector<double>& list) {
  const double last = list.back();
  if (list.size() < 2) return 4 * last;
  return last * std::clamp(last / list[list.size() - 2], 2.0, 4.0);
}

std::string why_stop(const Curve& c, int64_t next, const Limits& limits) {
  const double seconds = foreseen(c.seconds), bytes = foreseen(c.bytes);
  if (seconds > limits.seconds) {
    return fmt::format("T = {} would take about {:.2g} s a pass, --limit is {:g} s", next, seconds,
                       limits.seconds);
  }
  if (bytes > limits.bytes) {
    return fmt::format("T = {} would take about {:.2g} GB, --memory is {:g} GB", next, bytes / 1e9,
                       limits.bytes / 1e9);
  }
  return {};
}

}  // namespace

Curve measure(const Method& method, const Sizes& sizes, const Limits& limits) {
  Curve c;
  for (int64_t t = kFirstTokens; t <= limits.tokens; t *= 2) {
    if (t > kFirstTokens) c.stopped = why_stop(c, t, limits);
    if (!c.stopped.empty()) break;
    const Cost cost = passes(method, Input(sizes, t), limits.repeats);
    c.tokens.push_back(static_cast<double>(t));
    c.seconds.push_back(cost.seconds);
    c.bytes.push_back(cost.bytes);
  }
  empty_cache();
  return c;
}

double exponent(const std::vector<double>& x, const std::vector<double>& y) {
  const size_t first = x.size() / 2;
  double n = 0, sx = 0, sy = 0, sxx = 0, sxy = 0;
  for (size_t i = first; i < x.size(); ++i) {
    const double u = std::log(x[i]), w = std::log(y[i]);
    n += 1, sx += u, sy += w, sxx += u * u, sxy += u * w;
  }
  if (n < 2) return std::numeric_limits<double>::quiet_NaN();
  return (n * sxy - sx * sy) / (n * sxx - sx * sx);
}

double difference(const Method& a, const Method& b, const Sizes& sizes, int64_t tokens) {
  const NoGrad scope;
  const Input in(sizes, tokens);
  const Tensor x = a.attend(in.q, in.k, in.v), y = b.attend(in.q, in.k, in.v);
  return max(abs(x - y)).item() / max(abs(y)).item();
}

}  // namespace fovea::cost
