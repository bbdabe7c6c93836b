// Order along an axis.
#include <algorithm>
#include <numeric>
#include <set>

#include "fovea/ops/ops.h"
#include "tests/op_cases/op_case.h"

namespace fovea::cases {
namespace {

using Pair = ValuesAndIndices (*)(const Tensor&, int64_t);
struct Ordering {
  const char* name;
  const char* label;
  bool descending;
  int64_t first, last;  // places of the sorted line that are kept; last -1: to the end
  bool squeezed = false;
};

Values1d places(const Values1d& v, const Ordering& o) {
  Values1d at(v.size());
  std::iota(at.begin(), at.end(), 0.0);
  std::stable_sort(at.begin(), at.end(), [&](double i, double j) {
    const double a = v[static_cast<size_t>(i)], b = v[static_cast<size_t>(j)];
    return o.descending ? a > b : a < b;
  });
  const auto end = o.last < 0 ? at.end() : at.begin() + o.last;
  return {at.begin() + o.first, end};
}

NaiveTensor ordered(const NaiveTensor& x, int64_t axis, const Ordering& o, bool values) {
  NaiveTensor y = along(x, axis, [&](const Values1d& v) {
    Values1d at = places(v, o);
    if (values) {
      for (double& i : at) i = v[static_cast<size_t>(i)];
    }
    return at;
  });
  if (o.squeezed) y.shape.erase(static_cast<int>(axis < 0 ? axis + y.shape.rank() : axis));
  return y;
}

// Values, places and places among ties along one axis.
void add_ordering(std::vector<OpCase>& rows, const Ordering& o, int64_t axis, Pair f) {
  OpCase values;
  values.name = o.name;
  values.label = std::string(o.label) + "_values";
  values.f = [f, axis](const Tensors& x) { return f(x[0], axis).values; };
  values.inputs = {floats({3, 4, 5}).no_ties()};
  values.naive = [o, axis](const NaiveTensors& x) { return ordered(x[0], axis, o, true); };
  values.one = {{1, 1, 1}};  // but of what is kept
  values.one[0][static_cast<int>(axis < 0 ? 2 : axis)] = std::max<int64_t>(1, o.last);
  values.zero = {axis == 0 ? Shape{3, 0, 5} : Shape{0, 4, 5}};
  values.big = {{130, 70, 33}};
  values.bad = {{{floats({3})}, ErrorKind::index, o.name, [f](const Tensors& x) {
                   return f(x[0], 1).values;
                 }}};
  OpCase indices = values;
  indices.label = std::string(o.label) + "_indices";
  indices.f = [f, axis](const Tensors& x) { return f(x[0], axis).indices; };
  indices.inputs[0].no_grad();
  indices.naive = [o, axis](const NaiveTensors& x) { return ordered(x[0], axis, o, false); };
  indices.result = i64;
  indices.differentiable = false;
  OpCase ties = indices;
  ties.label = std::string(o.label) + "_ties";
  ties.inputs = {integers({3, 5, 6}, 0, 3)};
  ties.big = {{40, 50, 60}};
  ties.bad = {};
  ties.zero = {};
  rows.push_back(std::move(values));
  rows.push_back(std::move(indices));
  rows.push_back(std::move(ties));
}

BadCase wrong(ErrorKind kind, const char* message, Function f) {
  return {{floats({2, 3})}, kind, message, std::move(f)};
}

}  // namespace

std::vector<OpCase> rows_sort() {
  std::vector<OpCase> rows;
  add_ordering(rows, {"sort", "last", false, 0, -1}, -1,
               [](const Tensor& x, int64_t a) { return sort(x, a); });
  add_ordering(rows, {"sort", "first_descending", true, 0, -1}, 0,
               [](const Tensor& x, int64_t a) { return sort(x, a, true); });
  add_ordering(rows, {"topk", "last", true, 0, 2}, -1,
               [](const Tensor& x, int64_t a) { return topk(x, 2, a); });
  add_ordering(rows, {"topk", "middle_smallest", false, 0, 3}, 1,
               [](const Tensor& x, int64_t a) { return topk(x, 3, a, false); });
  add_ordering(rows, {"topk", "none", true, 0, 0}, -1,
               [](const Tensor& x, int64_t a) { return topk(x, 0, a); });
  add_ordering(rows, {"kthvalue", "middle", false, 1, 2, true}, 1,
               [](const Tensor& x, int64_t a) { return kthvalue(x, 2, a); });
  add_ordering(rows, {"kthvalue", "last_kept", false, 2, 3}, -1,
               [](const Tensor& x, int64_t a) { return kthvalue(x, 3, a, true); });
  // The only one there is.
  const size_t ranked = rows.size();
  add_ordering(rows, {"topk", "top", true, 0, 1}, -1,
               [](const Tensor& x, int64_t a) { return topk(x, 1, a); });
  add_ordering(rows, {"kthvalue", "least", false, 0, 1, true}, 0,
               [](const Tensor& x, int64_t a) { return kthvalue(x, 1, a); });
  for (size_t i = ranked; i < rows.size(); ++i) rows[i].big = {};
  for (OpCase& row : rows) {
    if (row.name == "topk" && row.label == "last_values") {
      row.bad.push_back(wrong(ErrorKind::index, "topk: k is 4",
                              [](const Tensors& x) { return topk(x[0], 4).values; }));
      row.bad.push_back(wrong(ErrorKind::value, "topk: k is -1",
                              [](const Tensors& x) { return topk(x[0], -1).values; }));
    }
    if (row.name == "kthvalue" && row.label == "middle_values") {
      row.bad.push_back(wrong(ErrorKind::index, "kthvalue: k is 4",
                              [](const Tensors& x) { return kthvalue(x[0], 4).values; }));
      row.bad.push_back(wrong(ErrorKind::value, "kthvalue: k is 0",
                              [](const Tensors& x) { return kthvalue(x[0], 0).values; }));
      row.bad.push_back({{floats({})}, ErrorKind::index, "kthvalue: k is 2", [](const Tensors& x) {
                           return kthvalue(x[0], 2).values;
                         }});
    }
  }
  OpCase lone;
  lone.name = "sort";
  lone.label = "scalar";
  lone.f = [](const Tensors& x) { return sort(x[0]).values; };
  lone.inputs = {floats({})};
  lone.naive = [](const NaiveTensors& x) { return x[0]; };
  rows.push_back(std::move(lone));

  for (bool descending : {false, true}) {
    const Ordering o{"argsort", "", descending, 0, -1};
    OpCase a;
    a.name = o.name;
    a.label = descending ? "first_descending_ties" : "last";
    const int64_t axis = descending ? 0 : -1;
    a.f = [axis, descending](const Tensors& x) { return argsort(x[0], axis, descending); };
    a.inputs = {descending ? integers({6, 5}, 0, 3) : floats({3, 6}).no_grad()};
    a.naive = [axis, o](const NaiveTensors& x) { return ordered(x[0], axis, o, false); };
    a.result = i64;
    a.differentiable = false;
    a.one = {{1, 1}};
    a.zero = {{0, 5}};
    a.big = {{300, 130}};
    a.bad = {{{floats({3})}, ErrorKind::index, "argsort", [](const Tensors& x) {
                return argsort(x[0], 1);
              }}};
    rows.push_back(std::move(a));
  }

  OpCase once;
  once.name = "unique";
  once.f = [](const Tensors& x) { return unique(x[0]); };
  once.inputs = {integers({4, 5}, -3, 3)};
  once.naive = [](const NaiveTensors& x) {
    const std::set<double> all(x[0].data.begin(), x[0].data.end());
    return NaiveTensor{{static_cast<int64_t>(all.size())}, {all.begin(), all.end()}};
  };
  once.result = i64;
  once.differentiable = false;
  once.one = {{1, 1}};
  once.zero = {{0, 5}};
  once.big = {{300, 257}};
  once.bad = {{{floats({3})}, ErrorKind::dtype, "unique: x is f"}};
  OpCase truths = once;
  truths.label = "bool";
  truths.inputs = {bools({7})};
  truths.result = boolean;
  truths.one = {{1}};
  truths.zero = truths.big = {};
  truths.bad = {};
  rows.push_back(std::move(once));
  rows.push_back(std::move(truths));
  return rows;
}

}  // namespace fovea::cases
