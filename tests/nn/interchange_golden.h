// What golden/make_interchange.py stored: the state, inputs, results and gradients of layers of
// PyTorch, by its own names.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "fovea/io/safetensors.h"
#include "fovea/nn/module.h"
#include "fovea/ops/ops.h"

namespace fovea::testing {

inline std::string golden_file(const std::string& name) {
  return FOVEA_SOURCE_DIR "/tests/golden/" + name + ".safetensors";
}

/// The tensors of `id` of one kind ("state", "input", "output", "upstream", "gradient",
/// "input_gradient"), floats as `floating`.
inline NamedTensors stored(const std::string& id, const std::string& kind, DType floating = f64) {
  static const TensorMap file = read_safetensors(golden_file("interchange"));
  const std::string prefix = id + "/" + kind + "/";
  NamedTensors list;
  for (const auto& [name, t] : file.tensors) {
    if (!name.starts_with(prefix)) continue;
    list.emplace_back(name.substr(prefix.size()), t.is_floating() ? clone(to(t, floating)) : t);
  }
  return list;
}

/// Expects the same names, each with numbers that differ by `tolerance` of the largest at most.
inline void expect_near(const NamedTensors& got, const NamedTensors& want, double tolerance,
                        const std::string& what) {
  EXPECT_EQ(got.size(), want.size()) << what;
  for (const auto& [name, w] : want) {
    const Tensor g = find(got, name);
    ASSERT_TRUE(g.defined()) << what << ": " << name;
    ASSERT_EQ(g.shape(), w.shape()) << what << ": " << name;
    const double error = max(abs(to(g.detach(), f64) - to(w, f64))).item();
    EXPECT_LE(error, tolerance * max(abs(w)).item()) << what << ": " << name;
  }
}

/// Names, order and every bit.
inline bool identical(const NamedTensors& a, const NamedTensors& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const auto& x, const auto& y) {
    return x.first == y.first && x.second.dtype() == y.second.dtype() && equal(x.second, y.second);
  });
}

/// Puts the gradients in the place of the parameters, so that what names these names those.
inline void become_gradients(const Module& m) {
  const NoGrad scope;
  for (const auto& [name, p] : m.named_parameters()) {
    ASSERT_TRUE(p.grad().defined()) << name;
    p.copy_(p.grad());
  }
}

}  // namespace fovea::testing
