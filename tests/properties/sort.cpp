// Order along an axis: NaN counts as the largest, equal elements keep their order, and the gradient
// goes to the elements that were chosen.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "fovea/ops/ops.h"
#include "tests/op_cases/op_case.h"
#include "tests/properties/models.h"

namespace fovea::properties {
namespace {

struct Order {
  bool descending = false;
  int64_t first = 0, last = -1;  // places of the sorted line that are kept; last -1: to its end
};

// The places of a line's elements in order.
Values1d places(const Values1d& v, const Order& o) {
  Values1d at(v.size());
  std::iota(at.begin(), at.end(), 0.0);
  const auto before = [](double a, double b) { return std::isnan(b) ? !std::isnan(a) : a < b; };
  std::stable_sort(at.begin(), at.end(), [&](double i, double j) {
    const double a = v[static_cast<size_t>(i)], b = v[static_cast<size_t>(j)];
    return o.descending ? before(b, a) : before(a, b);
  });
  return {at.begin() + o.first, o.last < 0 ? at.end() : at.begin() + o.last};
}

// x may be one number, without an axis.
NaiveTensor indices_of(const NaiveTensor& x, int64_t axis, const Order& o) {
  if (x.shape.empty()) return cases::scalar(0);
  return cases::along(x, axis, [&](const Values1d& v) { return places(v, o); });
}

using Both = std::function<ValuesAndIndices(const Tensor&)>;

Trial ordered(const Both& f, const Tensor& x, int64_t axis, const Order& o, bool keep = true) {
  const NaiveTensor at = indices_of(cases::to_naive(x), axis, o);
  const int d = from_front(axis, x.dim());
  const auto squeezed = [&](NaiveTensor y) {
    if (!keep && x.dim() > 0) y.shape.erase(d);
    return y;
  };
  Trial t = rearranged(
      [f](const Tensors& in) {
        const auto [values, indices] = f(in[0]);
        return Tensors{values, indices};
      },
      {x},
      [&](const NaiveTensors& numbers) {
        return NaiveTensors{squeezed(cases::build(at.shape, [&](const Shape& i) {
          Shape from = i;
          if (x.dim() > 0) from[d] = static_cast<int64_t>(at.at(i));
          return numbers[0].at(from);
        }))};
      });
  t.values.push_back(squeezed(at));
  return t.gives({x.dtype(), i64});
}

Tensor any_line() {
  const Shape shape = any_shape();
  return chance(6) ? any_integers(shape, -3, 4) : any_floats(shape, {-2, 2, {kNan, 0, 1}});
}

int64_t length(const Tensor& x, int64_t axis) { return x.dim() == 0 ? 1 : x.size(axis); }

Trial sort_trial() {
  const Tensor x = any_line();
  const int64_t axis = any_axis(x.dim());
  const bool down = chance(2);
  return ordered([=](const Tensor& in) { return sort(in, axis, down); }, x, axis, {down});
}

Trial argsort_trial() {
  const Tensor x = any_line();
  const int64_t axis = any_axis(x.dim());
  const bool down = chance(2);
  return plain([=](const Tensors& in) { return argsort(in[0], axis, down); }, {x},
               indices_of(cases::to_naive(x), axis, {down}), i64);
}

Trial topk_trial() {
  const Tensor x = any_line();
  const int64_t axis = any_axis(x.dim());
  const int64_t k = x.dim() == 0 ? 1 : draw(0, length(x, axis));
  const bool largest = chance(2);
  return ordered([=](const Tensor& in) { return topk(in, k, axis, largest); }, x, axis,
                 {largest, 0, k});
}

Trial kthvalue_trial() {
  const Tensor x = any_line();
  const int64_t axis = any_axis(x.dim());
  assume(length(x, axis) > 0);
  const int64_t k = draw(1, length(x, axis));
  const bool keep = chance(2);
  return ordered([=](const Tensor& in) { return kthvalue(in, k, axis, keep); }, x, axis,
                 {false, k - 1, k}, keep);
}

Trial unique_trial() {
  const Shape shape = any_shape();
  const Tensor x = chance(4) ? any_bools(shape) : any_integers(shape, -3, 4);
  const auto v = x.to_vector();
  const std::set<double> once(v.begin(), v.end());
  return plain([](const Tensors& in) { return unique(in[0]); }, {x},
               {{static_cast<int64_t>(once.size())}, {once.begin(), once.end()}}, x.dtype());
}

}  // namespace

Properties sort_properties() {
  return {{"sort", sort_trial},
          {"argsort", argsort_trial},
          {"topk", topk_trial},
          {"kthvalue", kthvalue_trial},
          {"unique", unique_trial}};
}

}  // namespace fovea::properties
