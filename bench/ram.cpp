// One training step of the recurrent attention model: batch 128, 6 glimpses of 8 x 8, the hybrid
// loss, Adam. The argument is the number of threads.
#include <benchmark/benchmark.h>

#include "examples/glimpse/model.h"
#include "fovea/core/parallel.h"
#include "fovea/ops/ops.h"
#include "fovea/optim/adam.h"

namespace {

using namespace fovea;

struct Step {
  glimpse::RecurrentAttention model{{}};
  Adam adam{model, {.lr = 1e-4}};
  Tensor images = rand({128, 28, 28});
  Tensor labels = randint(0, 10, {128});
  Generator generator{1};

  glimpse::HybridLoss loss() { return glimpse::hybrid_loss(model.look(images, generator), labels); }
};

void BM_ram_step(benchmark::State& state) {
  set_threads(static_cast<int>(state.range(0)));
  Step s;
  for (auto _ : state) {
    s.adam.zero_grad();
    const glimpse::HybridLoss loss = s.loss();
    loss.total.backward();
    s.adam.step();
    benchmark::DoNotOptimize(loss.total.item());
  }
}
BENCHMARK(BM_ram_step)->Arg(1)->Arg(2)->UseRealTime()->Unit(benchmark::kMillisecond);

void BM_ram_forward(benchmark::State& state) {
  set_threads(static_cast<int>(state.range(0)));
  Step s;
  for (auto _ : state) benchmark::DoNotOptimize(s.loss().total.item());
}
BENCHMARK(BM_ram_forward)->Arg(1)->Arg(2)->UseRealTime()->Unit(benchmark::kMillisecond);

// What the retina costs: one look of the batch.
void BM_ram_sensor(benchmark::State& state) {
  const Tensor images = rand({128, 28, 28}), at = uniform({128, 2}, -1, 1);
  const glimpse::Retina retina{.patch = 8, .scales = state.range(0)};
  for (auto _ : state) benchmark::DoNotOptimize(see(images, at, retina).raw());
}
BENCHMARK(BM_ram_sensor)->Arg(1)->Arg(3)->UseRealTime()->Unit(benchmark::kMicrosecond);

}  // namespace
