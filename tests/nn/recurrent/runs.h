// Everything that a call of a recurrent layer gives, for comparing calls.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>

#include "fovea/core/random.h"
#include "fovea/nn/recurrent/recurrent.h"

namespace fovea::testing {

/// Layers of every kind, with the same weights on every call.
inline std::unique_ptr<Recurrent> made(const std::string& kind, RecurrentLayerOptions o) {
  manual_seed(11);
  if (kind == "rnn_relu") return std::make_unique<RNN>(o, Nonlinearity::relu);
  return make_recurrent(kind, o);
}
inline const char* const kKinds[] = {"rnn", "rnn_relu", "lstm", "gru"};

/// A loss in which every number of a result counts differently.
struct Upstream {
  Tensor y, h, c;
};
inline Tensor loss(const RecurrentOutput& r, const Upstream& up) {
  const Tensor both = sum(r.output * up.y) + sum(r.state.h * up.h);
  return r.state.c.defined() ? both + sum(r.state.c * up.c) : both;
}

/// Output and states, then the gradients of x, of the initial states and of every parameter.
inline Tensors everything(const Recurrent& m, const Tensor& x, const RecurrentState& initial,
                          const Tensor& lengths, const Upstream& up) {
  const auto leaf = [](const Tensor& t) {
    return t.defined() ? clone(t.detach()).requires_grad_() : t;
  };
  m.zero_grad();
  const Tensor read = leaf(x);
  const RecurrentState start{leaf(initial.h), leaf(initial.c)};
  const RecurrentOutput r = m(read, start, lengths);
  loss(r, up).backward();
  Tensors all{r.output.detach(), r.state.h.detach()};
  if (m.has_cell()) all.push_back(r.state.c.detach());
  all.push_back(read.grad());
  for (const Tensor& s : {start.h, start.c}) {
    if (s.defined()) all.push_back(s.grad());
  }
  for (const Tensor& p : m.parameters()) all.push_back(p.grad());
  return all;
}

inline Tensor within(const Tensor& lengths, int64_t time) {
  return unsqueeze(arange(time) < unsqueeze(lengths, 1), 2);
}

inline void expect_same_bits(const Tensors& a, const Tensors& b, const std::string& what) {
  ASSERT_EQ(a.size(), b.size()) << what;
  for (size_t i = 0; i < a.size(); ++i) EXPECT_TRUE(equal(a[i], b[i])) << what << ": " << i;
}

/// Each differs by `tolerance` of its largest number at most.
inline void expect_close(const Tensor& a, const Tensor& b, double tolerance,
                         const std::string& what) {
  ASSERT_EQ(a.shape(), b.shape()) << what;
  if (a.numel() == 0) return;
  EXPECT_LE(max(abs(a - b)).item(), tolerance * std::fmax(max(abs(b)).item(), 1e-3)) << what;
}

}  // namespace fovea::testing
