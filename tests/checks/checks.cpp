// What the checks share.
#include "tests/checks/checks.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "fovea/core/engine.h"
#include "fovea/core/random.h"
#include "fovea/ops/ops.h"

namespace fovea::cases {

Tensor call(const Function& f, const Tensors& x) {
  manual_seed(7);  // random operations draw the same numbers on every call
  return f(x);
}

Tensors wanted(const Tensors& inputs) {
  Tensors w;
  for (const Tensor& x : inputs) {
    if (x.requires_grad()) w.push_back(x);
  }
  return w;
}

Tensor upstream_for(const Tensor& y) {
  return make_inputs({floats(y.shape()).no_grad()}, y.dtype(), kSeed + 1)[0];
}

Tensors gradients(const OpCase& row, const Tensors& inputs, const Tensor& y, const Tensor& upstream,
                  bool create_graph) {
  GradOptions o;
  o.create_graph = create_graph;
  o.retain_graph = true;
  o.allow_unused = true;
  o.upstream = upstream;
  const Tensors w = wanted(inputs);
  Tensors g = grad(y, w, o);
  for (size_t i = 0; i < g.size(); ++i) {
    if (!g[i].defined()) g[i] = Tensor::empty(w[i].shape(), w[i].dtype()), g[i].fill_(0);
    EXPECT_EQ(g[i].shape().str(), w[i].shape().str()) << row.id();
    EXPECT_EQ(g[i].dtype(), w[i].dtype()) << row.id();
  }
  return g;
}

void expect_equal(const Tensor& a, const Tensor& b, double tolerance, const std::string& what) {
  ASSERT_EQ(a.dtype(), b.dtype()) << what;
  // Sums that cancel leave what they were made of: errors count against the largest element.
  const double share = a.dtype() == f32 ? 1 : 0.1;
  const std::string complaint = compare(to_naive(a), to_naive(b), tolerance, share);
  EXPECT_EQ(complaint, "") << what;
}

void expect_equal(const Tensors& a, const Tensors& b, double tolerance, const std::string& what) {
  ASSERT_EQ(a.size(), b.size());
  // Of several, one may be 0 but for rounding: of the bias of keys, which softmax cancels.
  double largest = 0;
  for (const Tensor& g : b) {
    for (double v : to_naive(g).data)
      largest = std::fmax(largest, std::isfinite(v) ? std::fabs(v) : 0);
  }
  for (size_t i = 0; i < a.size(); ++i) {
    ASSERT_EQ(a[i].dtype(), b[i].dtype()) << what;
    const double share = a[i].dtype() == f32 ? 1 : 0.1;
    EXPECT_LE(relative_error(to_naive(a[i]), to_naive(b[i]), share, share * largest), tolerance)
        << what << ", gradient " << i;
  }
}

bool same_bits(const Tensor& a, const Tensor& b) {
  const Tensor x = a.contiguous(), y = b.contiguous();
  return a.dtype() == b.dtype() && a.shape() == b.shape() &&
         std::memcmp(x.raw(), y.raw(), static_cast<size_t>(x.numel() * item_size(x.dtype()))) == 0;
}

}  // namespace fovea::cases
