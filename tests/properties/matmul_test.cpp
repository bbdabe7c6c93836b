#include <gtest/gtest.h>

#include "fovea/core/engine.h"
#include "fovea/ops/ops.h"
#include "tests/properties/arbitrary.h"

namespace fovea::properties {
namespace {

using cases::to_naive;

int64_t any_size() { return draw(0, 12) == 0 ? 0 : draw(1, 9); }

RC_GTEST_PROP(Properties, ProductsOfAnyRankAndBatch, ()) {
  const Shape batch = any_shape(0, 2);
  const int64_t m = any_size(), k = any_size(), n = any_size();
  Shape sa = broadcastable(batch), sb = draw(0, 1) ? batch : broadcastable(batch);
  const bool row = sa.empty() && draw(0, 3) == 0, column = sb.empty() && draw(0, 3) == 0;
  if (!row) sa.push_back(m);
  sa.push_back(k);
  sb.push_back(k);
  if (!column) sb.push_back(n);
  const Tensor a = any_tensor(sa), b = any_tensor(sb);
  const Tensor y = matmul(a, b);
  const NaiveTensor na = to_naive(a), nb = to_naive(b);
  require_equal(y, cases::matmul(na, nb), "value");

  // The gradients by the definition: da_ik = sum_j w_ij b_kj, summed over broadcast batches.
  const Tensor w = weights(y.shape());
  const Tensors g = grad(y, {a, b}, {.create_graph = draw(0, 1) == 1, .upstream = w});
  NaiveTensor wide = to_naive(w), ma = na, mb = nb;
  if (row) ma.shape.insert(0, 1);
  if (column) mb.shape.push_back(1);
  if (column) wide.shape.push_back(1);
  if (row) wide.shape.insert(wide.shape.rank() - 1, 1);
  NaiveTensor da = cases::filled(ma.shape, 0), db = cases::filled(mb.shape, 0);
  cases::each_index(wide.shape, [&](const Shape& i) {
    const int last = i.rank() - 1;
    Shape ia = i, ib = i;
    for (int64_t j = 0; j < k; ++j) {
      ia[last] = j;
      ib[last - 1] = j;
      da.at(ia) += wide.at(i) * mb.at(ib);
      db.at(ib) += wide.at(i) * ma.at(ia);
    }
  });
  require_equal(g[0], {sa, da.data}, "gradient of a");
  require_equal(g[1], {sb, db.data}, "gradient of b");
}

RC_GTEST_PROP(Properties, ProductsAssociateWithTransposes, ()) {
  const int64_t m = any_size(), k = any_size(), n = any_size();
  const Tensor a = any_tensor({m, k}).detach(), b = any_tensor({k, n}).detach();
  RC_ASSERT(allclose(matmul(a, b).t(), matmul(b.t(), a.t()), 1e-12, 1e-12));
  RC_ASSERT(allclose(linear(a, b.t()), matmul(a, b), 1e-12, 1e-12));
}

// Larger sizes, where tiles and flags matter, against the product of contiguous copies.
RC_GTEST_PROP(Properties, LayoutsOfLargeProductsDoNotMatter, ()) {
  const auto side = [] { return draw(1, 140); };
  const int64_t m = side(), k = side(), n = side();
  const Tensor a = any_tensor({m, k}).detach().to(f32), b = any_tensor({k, n}).detach().to(f32);
  const Tensor turned = a.t().contiguous().t();
  const Tensor wide = cat({b, b}, 1).slice(1, n / 2, n / 2 + n);
  RC_ASSERT(allclose(matmul(turned, b), matmul(a, b), 1e-5, 1e-4));
  RC_ASSERT(allclose(matmul(a, wide), matmul(a, wide.contiguous()), 1e-5, 1e-4));
}

}  // namespace
}  // namespace fovea::properties
