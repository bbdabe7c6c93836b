// What is computed and dropped leaves nothing: nodes, tensors and bytes return to where they were,
// for every operation of the case table, forward only, with backward, with a backward that is
// itself recorded, and with losses summed over steps.
#include "fovea/core/allocator.h"
#include "tests/cases/near.h"
#include "tests/op_cases/op_case.h"

namespace fovea {
namespace {

void expect_baseline(const MemoryStats& before, const std::string& what) {
  const MemoryStats after = memory_stats();
  EXPECT_EQ(after.live_nodes, before.live_nodes) << what;
  EXPECT_EQ(after.live_tensors, before.live_tensors) << what;
  EXPECT_EQ(after.live_bytes, before.live_bytes) << what;
}

TEST(Cases, AThousandRoundsOfEachLeaveNothingBehind) {
  const Tensor x = full({3, 16}, .5, f64).requires_grad_();
  x.set_grad(zeros({3, 16}, f64));
  struct Row {
    const char* name;
    Tensor (*f)(const Tensor&);
  };
  const Row rows[] = {{"tanh", tanh},
                      {"exp", exp},
                      {"sqrt", sqrt},
                      {"softmax", [](const Tensor& t) { return softmax(t); }}};
  for (const Row& row : rows) {
    const MemoryStats before = memory_stats();
    Tensor kept;
    for (int i = 0; i < 1000; ++i) kept = row.f(x);
    kept = Tensor();
    expect_baseline(before, std::string(row.name) + " forward");
    for (int i = 0; i < 1000; ++i) sum(square(row.f(x))).backward();
    expect_baseline(before, std::string(row.name) + " backward");
    for (int i = 0; i < 1000; ++i) {
      const Tensor g = grad(sum(square(row.f(x))), {x}, {.create_graph = true})[0];
      sum(square(g)).backward();
    }
    expect_baseline(before, std::string(row.name) + " recorded backward");
    {
      Tensor total = zeros({}, f64), running = zeros({}, f64);
      for (int i = 0; i < 1000; ++i) {
        const Tensor loss = sum(row.f(x));
        total = total + loss;
        running += loss.detach();
      }
      total.backward();
    }
    expect_baseline(before, std::string(row.name) + " summed losses");
  }
}

// One round of a row: what a training step of it would do.
void run(const cases::OpCase& row, const Tensors& inputs) {
  manual_seed(7);
  const Tensor y = row.f(inputs);
  if (!row.has_gradient() || !y.requires_grad()) return;
  Tensors wanted;
  for (const Tensor& x : inputs) {
    if (x.requires_grad()) wanted.push_back(x);
  }
  const GradOptions once{.retain_graph = true, .allow_unused = true, .upstream = ones_like(y)};
  (void)grad(y, wanted, once);
  (void)(sum(y) + sum(row.f(inputs)));
  GradOptions again = once;
  again.create_graph = true;
  Tensor total = zeros({}, f64);
  for (const Tensor& g : grad(y, wanted, again)) {
    if (g.defined()) total = total + sum(square(g));
  }
  if (total.requires_grad()) (void)grad(total, wanted, {.allow_unused = true});
}

TEST(Cases, EveryOperationLeavesNothingBehind) {
  for (const cases::OpCase& row : cases::table()) {
    const Tensors inputs = cases::make_inputs(row.inputs, f64, 5);
    run(row, inputs);  // what is kept between calls, once, is no leak
    const MemoryStats before = memory_stats();
    for (int i = 0; i < 3; ++i) run(row, inputs);
    expect_baseline(before, row.id());
  }
}

}  // namespace
}  // namespace fovea
