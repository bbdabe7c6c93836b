// Views of views.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <numeric>

#include "fovea/core/engine.h"
#include "fovea/ops/ops.h"
#include "tests/op_cases/op_case.h"
#include "tests/properties/arbitrary.h"

namespace fovea::properties {
namespace {

using cases::build;
using cases::to_naive;

// One random step, taken by the tensor and by the naive model alike.
void step(Tensor& x, NaiveTensor& n) {
  const int rank = x.dim();
  const int64_t kind = draw(0, rank > 0 ? 8 : 1);
  const int axis = rank > 0 ? static_cast<int>(draw(0, rank - 1)) : 0;
  const int64_t size = rank > 0 ? x.shape()[axis] : 1;
  if (kind == 0 && rank < 5) {
    const int at = static_cast<int>(draw(0, rank));
    x = unsqueeze(x, at);
    n.shape.insert(at, 1);
  } else if (kind == 1 && rank < 5) {
    Shape target = n.shape;
    for (int64_t& s : target) s = s == 1 ? draw(1, 3) : s;
    target.insert(0, draw(1, 2));
    x = expand(x, target);
    n = build(target, [&](const Shape& i) { return n.at(i); });
  } else if (kind == 2) {
    const int other = static_cast<int>(draw(0, rank - 1));
    x = transpose(x, axis, other);
    std::vector<int64_t> order(static_cast<size_t>(rank));
    std::iota(order.begin(), order.end(), 0);
    std::swap(order[static_cast<size_t>(axis)], order[static_cast<size_t>(other)]);
    n = cases::permute(n, order);
  } else if (kind == 3) {
    const int64_t start = draw(0, size), end = draw(start, size), by = draw(1, 3);
    x = slice(x, axis, start, end, by);
    Shape out = n.shape;
    out[axis] = (end - start + by - 1) / by;
    n = build(out, [&](const Shape& i) {
      Shape from = i;
      from[axis] = start + i[axis] * by;
      return n.at(from);
    });
  } else if (kind == 4 && size > 0) {
    const int64_t at = draw(0, size - 1);
    x = select(x, axis, draw(0, 1) ? at : at - size);
    Shape out = n.shape;
    out.erase(axis);
    n = build(out, [&](const Shape& i) {
      Shape from = i;
      from.insert(axis, at);
      return n.at(from);
    });
  } else if (kind == 5) {
    x = flip(x, axis);
    n = build(n.shape, [&](const Shape& i) {
      Shape from = i;
      from[axis] = size - 1 - i[axis];
      return n.at(from);
    });
  } else if (kind == 6) {
    x = flatten(x);
    n.shape = {n.numel()};
  } else if (kind == 7 && rank < 5) {
    x = reshape(x, [&] {
      Shape s = x.shape();
      s.insert(axis, 1);
      return s;
    }());
    n.shape.insert(axis, 1);
  } else if (kind == 8 && size == 1) {
    x = squeeze(x, axis);
    n.shape.erase(axis);
  }
}

// Any sequence of views shows the right elements, and their gradients return to where they came
// from: the model carries element numbers along, so the answer is a scatter by number.
RC_GTEST_PROP(Laws, ChainsOfViews, ()) {
  const Tensor x = any_tensor(any_shape());
  NaiveTensor number{x.shape(), std::vector<double>(static_cast<size_t>(x.numel()))};
  std::iota(number.data.begin(), number.data.end(), 0.0);
  const NaiveTensor values = to_naive(x);
  Tensor y = x;
  for (int64_t i = draw(1, 6); i > 0; --i) step(y, number);
  const auto at = [&](double n) { return values.data[static_cast<size_t>(n)]; };
  require_equal(y, cases::map(number, at), "value");
  const Tensor w = weights(y.shape());
  const NaiveTensor nw = to_naive(w);
  NaiveTensor want = cases::filled(x.shape(), 0);
  for (size_t i = 0; i < nw.data.size(); ++i) {
    want.data[static_cast<size_t>(number.data[i])] += nw.data[i];
  }
  require_equal(grad(y, {x}, {.create_graph = draw(0, 1) == 1, .upstream = w})[0], want,
                "gradient");
}

}  // namespace
}  // namespace fovea::properties
