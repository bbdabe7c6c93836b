// What golden/make_interchange.py and make_recurrent.py stored: the state, inputs, results and
// gradients of layers of PyTorch, by its own names.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "fovea/io/safetensors.h"
#include "fovea/nn/interchange/torch_names.h"
#include "fovea/nn/module.h"
#include "fovea/ops/ops.h"

namespace fovea::testing {

inline std::string golden_file(const std::string& name) {
  return FOVEA_SOURCE_DIR "/tests/golden/" + name + ".safetensors";
}

/// The tensors of `id` of one kind ("state", "input", "output", "upstream", "gradient",
/// "input_gradient"), floats as `floating`.
inline NamedTensors stored(const std::string& id, const std::string& kind, DType floating = f64) {
  static const NamedTensors all = [] {
    NamedTensors both = read_safetensors(golden_file("interchange")).tensors;
    for (auto& entry : read_safetensors(golden_file("recurrent")).tensors) both.push_back(entry);
    return both;
  }();
  const std::string prefix = id + "/" + kind + "/";
  NamedTensors list;
  for (const auto& [name, t] : all) {
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

/// Expects what PyTorch gave, results and all gradients, of call(layer, input), where the layer is
/// make(dtype) with PyTorch's state and input("x") the stored input of that name, or undefined.
template <class Make, class Call>
void expect_agreement(const std::string& id, Make make, Call call) {
  for (const DType t : {f64, f32}) {
    const std::string what = id + (t == f64 ? " f64" : " f32");
    const double tolerance = t == f64 ? 1e-10 : 1e-5;
    auto layer = make(t);
    layer.eval();
    const NamedTensors state = stored(id, "state", t);
    load_torch_state(layer, stored(id, "state", f32));
    EXPECT_TRUE(identical(torch_state(layer), state)) << what;

    const NamedTensors inputs = stored(id, "input", t), gradients = stored(id, "input_gradient");
    for (const auto& [key, g] : gradients) find(inputs, key).requires_grad_();
    const auto input = [&inputs](const char* key) { return find(inputs, key); };
    const NamedTensors outputs = call(layer, input);
    expect_near(outputs, stored(id, "output"), tolerance, what);

    Tensor total = zeros({}, t);
    for (const auto& [key, up] : stored(id, "upstream", t)) {
      total = total + sum(find(outputs, key) * up);
    }
    total.backward();
    NamedTensors got;
    for (const auto& [key, g] : gradients) got.emplace_back(key, find(inputs, key).grad());
    expect_near(got, gradients, tolerance, what + ", gradient of");
    become_gradients(layer);
    expect_near(torch_state(layer), stored(id, "gradient"), tolerance, what + ", gradient of");
  }
}

}  // namespace fovea::testing
