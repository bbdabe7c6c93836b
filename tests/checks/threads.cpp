// The same bits on 1, 2 and 8 threads.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "fovea/core/parallel.h"
#include "fovea/ops/ops.h"
#include "tests/checks/checks.h"

namespace fovea::cases {

namespace {

class RestoreThreads {
 public:
  RestoreThreads() : before_(threads()) {}
  ~RestoreThreads() { set_threads(before_); }
  RestoreThreads(const RestoreThreads&) = delete;
  RestoreThreads& operator=(const RestoreThreads&) = delete;

 private:
  int before_;
};

}  // namespace

void thread_counts(const OpCase& row) {
  if (row.name == "empty_like") return;  // whatever the memory held
  const RestoreThreads restore;
  for (DType t : {f32, f64}) {
    const Tensors inputs = make_inputs(row.inputs, t, kSeed, row.big);
    Tensors first;
    for (int n : {1, 2, 8}) {
      set_threads(n);
      const Tensor y = call(row.f, inputs);
      Tensors all;
      if (row.differentiable) all = gradients(row, inputs, y, upstream_for(y), false);
      all.push_back(y.detach());
      if (n == 1) first = all;
      for (size_t i = 0; i < all.size(); ++i) {
        EXPECT_TRUE(same_bits(all[i], first[i]))
            << fovea::name(t) << " on " << n
            << " threads: " << (i + 1 == all.size() ? "result" : fmt::format("gradient {}", i));
      }
    }
    if (row.differentiable && !row.big.empty()) {  // the chunks of a fused rule, by its formula
      const Tensor y = call(row.f, inputs);
      Tensors formula = gradients(row, inputs, y, upstream_for(y), true);
      formula.push_back(first.back());
      expect_equal(first, formula, t == f32 ? 5 * row.tolerance_f32 : 1e-11, "formula");
    }
    if (first.back().numel() > 0 && row.naive && !row.big.empty()) {
      EXPECT_EQ(compare(to_naive(first.back()), row.naive(to_naive(inputs)),
                        first.back().dtype() == f32 ? 5 * row.tolerance_f32 : 1e-11),
                "")
          << "big";
    }
  }
}

}  // namespace fovea::cases
