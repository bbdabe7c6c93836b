// Attention forward and backward, by length: bench_attention --benchmark_filter=causal
//
// The work of q, k and v of (4, 8, T, 64), float32: what the peers are timed on.
#include <benchmark/benchmark.h>

#include "fovea/ops/ops.h"

namespace fovea {
namespace {

using Attend = Tensor (*)(const Tensor&, const Tensor&, const Tensor&);

Tensor causal(const Tensor& q, const Tensor& k, const Tensor& v) {
  return scaled_dot_product_attention(q, k, v, {.causal = Causal::lower_right});
}
Tensor everything(const Tensor& q, const Tensor& k, const Tensor& v) {
  return scaled_dot_product_attention(q, k, v);
}
Tensor window(const Tensor& q, const Tensor& k, const Tensor& v) {
  return scaled_dot_product_attention(q, k, v, {.window = 128});
}
Tensor linear_causal(const Tensor& q, const Tensor& k, const Tensor& v) {
  return linear_attention(q, k, v, {.causal = true});
}
Tensor linear_both(const Tensor& q, const Tensor& k, const Tensor& v) {
  return linear_attention(q, k, v);
}

void forward_and_backward(benchmark::State& state, Attend attend) {
  manual_seed(1);
  const Shape shape{4, 8, state.range(0), 64};
  const Tensor q = randn(shape).requires_grad_(), k = randn(shape).requires_grad_(),
               v = randn(shape).requires_grad_(), upstream = randn(shape);
  for (auto _ : state) {
    attend(q, k, v).backward(upstream);
    for (const Tensor& x : {q, k, v}) x.zero_grad();
  }
}

#define FOVEA_BENCH(NAME)                             \
  BENCHMARK_CAPTURE(forward_and_backward, NAME, NAME) \
      ->RangeMultiplier(2)                            \
      ->Range(128, 4096)                              \
      ->Unit(benchmark::kMillisecond)                 \
      ->UseRealTime()
FOVEA_BENCH(causal);
FOVEA_BENCH(everything);
FOVEA_BENCH(window);
FOVEA_BENCH(linear_causal);
FOVEA_BENCH(linear_both);
#undef FOVEA_BENCH

}  // namespace
}  // namespace fovea
