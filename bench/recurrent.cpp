// Recurrent layers, forward and backward: bench_recurrent --benchmark_filter=gru
//
// 64 sequences of 256 numbers into 256 units, float32, by the number of steps: 50 is what the peers
// are timed on, 1 a step of a decoder. Layers: forward and backward, of two layers that read both
// ways, 128 units each, at lengths from 1 to that number of steps.
#include <benchmark/benchmark.h>

#include "fovea/core/node.h"
#include "fovea/core/random.h"
#include "fovea/nn/recurrent/gru.h"
#include "fovea/nn/recurrent/lstm.h"
#include "fovea/ops/ops.h"

namespace fovea {
namespace {

constexpr int64_t kBatch = 64, kWidth = 256;

struct Inputs {
  Tensor x, h0, c0;
  RecurrentWeights w;
  Tensors leaves() const { return {x, h0, c0, w.weight_ih, w.weight_hh, w.bias_ih, w.bias_hh}; }
};

using Layer = Tensor (*)(const Inputs&);
Tensor rnn(const Inputs& in) { return rnn(in.x, in.h0, in.w); }
Tensor lstm(const Inputs& in) { return lstm(in.x, in.h0, in.c0, in.w); }
Tensor gru(const Inputs& in) { return gru(in.x, in.h0, in.w); }

Inputs inputs(int64_t steps, int64_t gates) {
  manual_seed(1);
  const auto weight = [](const Shape& shape) { return randn(shape) * 0.06; };
  Inputs in{randn({kBatch, steps, kWidth}),
            zeros({kBatch, kWidth}),
            zeros({kBatch, kWidth}),
            {weight({gates * kWidth, kWidth}), weight({gates * kWidth, kWidth}),
             weight({gates * kWidth}), weight({gates * kWidth})}};
  for (const Tensor& t : {in.x, in.w.weight_ih, in.w.weight_hh, in.w.bias_ih, in.w.bias_hh}) {
    t.requires_grad_();
  }
  return in;
}

void forward(benchmark::State& state, Layer layer, int64_t gates) {
  const Inputs in = inputs(state.range(0), gates);
  const NoGrad scope;
  for (auto _ : state) benchmark::DoNotOptimize(layer(in));
}

void forward_and_backward(benchmark::State& state, Layer layer, int64_t gates) {
  const Inputs in = inputs(state.range(0), gates);
  const Tensor upstream = randn(layer(in).shape());
  for (auto _ : state) {
    layer(in).backward(upstream);
    for (const Tensor& t : in.leaves()) t.zero_grad();
  }
}

#define FOVEA_BENCH(WHAT, NAME, GATES)       \
  BENCHMARK_CAPTURE(WHAT, NAME, NAME, GATES) \
      ->Arg(1)                               \
      ->Arg(10)                              \
      ->Arg(50)                              \
      ->Unit(benchmark::kMillisecond)        \
      ->UseRealTime()
FOVEA_BENCH(forward, rnn, 1);
FOVEA_BENCH(forward, lstm, 4);
FOVEA_BENCH(forward, gru, 3);
FOVEA_BENCH(forward_and_backward, rnn, 1);
FOVEA_BENCH(forward_and_backward, lstm, 4);
FOVEA_BENCH(forward_and_backward, gru, 3);
#undef FOVEA_BENCH

// The layers, with what stands around the operations: two layers, both directions, lengths.
template <class Layer>
void layer(benchmark::State& state) {
  manual_seed(1);
  const Layer m({.in = kWidth, .hidden = kWidth / 2, .layers = 2, .bidirectional = true});
  const int64_t steps = state.range(0);
  const Tensor x = randn({kBatch, steps, kWidth}), upstream = randn({kBatch, steps, kWidth});
  const Tensor lengths = randint(1, steps + 1, {kBatch});
  for (auto _ : state) {
    m(x, {}, lengths).output.backward(upstream);
    m.zero_grad();
  }
}
BENCHMARK(layer<LSTM>)->Arg(10)->Arg(50)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(layer<GRU>)->Arg(10)->Arg(50)->Unit(benchmark::kMillisecond)->UseRealTime();

}  // namespace
}  // namespace fovea
