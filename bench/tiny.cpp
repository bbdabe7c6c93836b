// What a tensor costs when there is almost nothing to compute: a chain of 1000 adds and muls on 4 x
// 4 floats. Reported per operation.
#include <benchmark/benchmark.h>

#include "fovea/ops/ops.h"

namespace {

using namespace fovea;

constexpr int kPairs = 500;

Tensor chain(const Tensor& x, const Tensor& w) {
  Tensor z = x;
  for (int i = 0; i < kPairs; ++i) z = z * w + x;
  return z;
}

void per_operation(benchmark::State& state) {
  state.counters["per_op"] = benchmark::Counter(
      2.0 * kPairs, benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}

// Forward, backward and the release of the graph.
void BM_chain_with_gradient(benchmark::State& state) {
  const Tensor x = rand({4, 4}).requires_grad_();
  const Tensor w = rand({4, 4}).requires_grad_();
  for (auto _ : state) {
    x.zero_grad();
    w.zero_grad();
    sum(chain(x, w)).backward();
  }
  per_operation(state);
}
BENCHMARK(BM_chain_with_gradient);

void BM_chain_without_gradient(benchmark::State& state) {
  const Tensor x = rand({4, 4});
  const Tensor w = rand({4, 4});
  for (auto _ : state) benchmark::DoNotOptimize(chain(x, w).raw());
  per_operation(state);
}
BENCHMARK(BM_chain_without_gradient);

}  // namespace
