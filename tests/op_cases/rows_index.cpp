// Look-ups and their reverse.
#include "fovea/ops/ops.h"
#include "tests/op_cases/op_case.h"

namespace fovea::cases {
namespace {

// All sizes 1 but that of the axis which the index looks into.
Shape thin(const Shape& x, int axis) {
  Shape one = Shape::filled(x.rank(), 1);
  if (axis < 0) axis += x.rank();
  one[axis] = x[axis];
  return one;
}

OpCase gathering(const char* label, int axis, const Shape& x, const Shape& index) {
  OpCase row;
  row.name = "gather";
  row.label = label;
  row.f = [axis](const Tensors& in) { return gather(in[0], axis, in[1]); };
  row.inputs = {floats(x), integers(index, 0, x[axis < 0 ? axis + x.rank() : axis])};
  row.one = {thin(x, axis), Shape::filled(index.rank(), 1)};
  row.naive = [axis](const NaiveTensors& in) {
    return build(in[1].shape, [&](const Shape& i) {
      Shape at = i;
      at[axis < 0 ? axis + i.rank() : axis] = static_cast<int64_t>(in[1].at(i));
      return in[0].at(at);
    });
  };
  return row;
}

OpCase adding(const char* label, int axis, const Shape& x, const Shape& index) {
  OpCase row;
  row.name = "scatter_add";
  row.label = label;
  row.f = [axis](const Tensors& in) { return scatter_add(in[0], axis, in[1], in[2]); };
  row.inputs = {floats(x), integers(index, 0, x[axis < 0 ? axis + x.rank() : axis]), floats(index)};
  const Shape single = Shape::filled(index.rank(), 1);
  row.one = {thin(x, axis), single, single};
  row.naive = [axis](const NaiveTensors& in) {
    NaiveTensor y = in[0];
    each_index(in[1].shape, [&](const Shape& i) {
      Shape at = i;
      at[axis < 0 ? axis + i.rank() : axis] = static_cast<int64_t>(in[1].at(i));
      y.at(at) += in[2].at(i);
    });
    return y;
  };
  return row;
}

OpCase looking_up(const char* label, const Shape& ids, int64_t padding,
                  const Shape& weight = {5, 3}) {
  OpCase row;
  row.name = "embedding";
  row.label = label;
  row.f = [padding](const Tensors& in) { return embedding(in[0], in[1], padding); };
  row.inputs = {floats(weight), integers(ids, 0, weight[0])};
  row.one = {{weight[0], 1}, Shape::filled(ids.rank(), 1)};
  row.naive = [](const NaiveTensors& in) {
    Shape out = in[1].shape;
    out.push_back(in[0].shape[1]);
    return build(out, [&](const Shape& i) {
      Shape at = i;
      at.erase(i.rank() - 1);
      return in[0].at({static_cast<int64_t>(in[1].at(at)), i.back()});
    });
  };
  return row;
}

InputSpec ids(const Shape& shape, std::vector<double> values) {
  return integers(shape, 0, 1).holding(std::move(values));
}

}  // namespace

std::vector<OpCase> rows_index() {
  std::vector<OpCase> rows;
  const auto index = ErrorKind::index, shape = ErrorKind::shape, dtype = ErrorKind::dtype;

  OpCase g = gathering("", 1, {3, 4}, {3, 6});
  g.zero = {{0, 4}, {0, 6}};
  g.big = {{300, 4}, {300, 700}};
  g.bad = {{{floats({2, 3}), ids({2, 1}, {0, 3})}, index, "gather"},
           {{floats({2, 3}), ids({2, 1}, {0, -4})}, index, "gather"},
           {{floats({2, 3}), integers({2}, 0, 1)}, shape, "gather"},
           {{floats({2, 3}), floats({2, 1}).no_grad()}, dtype, "gather"}};
  rows.push_back(std::move(g));
  rows.push_back(gathering("first", 0, {4, 3}, {7, 3}));
  rows.back().big = {{4, 130}, {900, 130}};
  rows.push_back(gathering("smaller_index", 0, {4, 3, 2}, {2, 2, 1}));
  rows.push_back(gathering("last_of_three", -1, {2, 3, 4}, {2, 3, 2}));
  rows.back().zero = {{2, 0, 4}, {2, 0, 2}};
  rows.push_back(gathering("no_index", 1, {3, 4}, {3, 0}));
  rows.push_back(gathering("single", 1, {1, 1}, {1, 1}));

  OpCase s = adding("", 0, {4, 3}, {6, 3});
  s.zero = {{4, 3}, {0, 3}, {0, 3}};
  s.big = {{40, 130}, {900, 130}, {900, 130}};
  s.inputs[1].high = 4;
  s.bad = {{{floats({2, 3}), ids({1, 1}, {2}), floats({1, 1})}, index, "scatter_add"},
           {{floats({2, 3}), integers({2}, 0, 1), floats({2})}, shape, "scatter_add"},
           {{floats({2, 3}), integers({2, 1}, 0, 1), floats({1, 1})}, shape, "scatter_add"},
           {{floats({2, 3}), floats({1, 1}).no_grad(), floats({1, 1})}, dtype, "scatter_add"}};
  rows.push_back(std::move(s));
  rows.push_back(adding("last", -1, {2, 3, 4}, {2, 3, 5}));
  rows.push_back(adding("smaller_index", 0, {4, 3}, {2, 2}));
  rows.push_back(adding("single", 0, {1, 1}, {1, 1}));

  OpCase picked;
  picked.name = "index_select";
  picked.f = [](const Tensors& in) { return index_select(in[0], 1, in[1]); };
  picked.inputs = {floats({2, 4, 3}), integers({5}, 0, 4)};
  picked.naive = [](const NaiveTensors& in) {
    return along(in[0], 1, [&](const Values1d& v) {
      Values1d y;
      for (double i : in[1].data) y.push_back(v[static_cast<size_t>(i)]);
      return y;
    });
  };
  picked.one = {{1, 4, 1}, {1}};
  picked.zero = {{0, 4, 3}, {5}};
  picked.big = {{30, 4, 33}, {700}};
  picked.bad = {{{floats({1, 2, 3}), ids({2}, {0, 2})}, index, "index_select"},
                {{floats({1, 2, 3}), integers({2, 1}, 0, 1)}, shape, "index_select"},
                {{floats({1, 2, 3}), floats({2}).no_grad()}, dtype, "index_select"},
                {{floats({3}), integers({2}, 0, 1)}, index, "index_select"}};
  OpCase none = picked;
  none.label = "none";
  none.inputs[1].shape = {0};
  none.one = {{1, 1, 1}, {0}};
  none.zero = none.big = {};
  none.bad = {};
  OpCase single = none;
  single.label = "single";
  single.inputs = {floats({1, 1, 1}), integers({1}, 0, 1)};
  single.one = all_one(single.inputs);
  rows.push_back(std::move(single));
  rows.push_back(std::move(picked));
  rows.push_back(std::move(none));

  OpCase e = looking_up("", {2, 4}, -1);
  e.zero = {{5, 3}, {0, 4}};
  e.big = {{5, 130}, {3, 700}};
  e.bad = {{{floats({2, 3}), ids({2}, {0, 2})}, index, "embedding"},
           {{floats({2, 3}), ids({2}, {0, -1})}, index, "embedding"},
           {{floats({2}), integers({2}, 0, 1)}, shape, "embedding"},
           {{floats({2, 3}), floats({2}).no_grad()}, dtype, "embedding"}};
  rows.push_back(std::move(e));
  rows.push_back(looking_up("one", {}, -1));
  rows.push_back(looking_up("single", {1}, -1, {1, 1}));

  OpCase hot;
  hot.name = "one_hot";
  hot.f = [](const Tensors& in) { return one_hot(in[0], 4); };
  hot.inputs = {integers({2, 3}, 0, 4)};
  hot.naive = [](const NaiveTensors& in) {
    Shape out = in[0].shape;
    out.push_back(4);
    return build(out, [&](const Shape& i) {
      Shape at = i;
      at.erase(i.rank() - 1);
      return in[0].at(at) == static_cast<double>(i.back());
    });
  };
  hot.result = i64;
  hot.differentiable = false;
  hot.one = {{1, 1}};
  hot.zero = {{0, 3}};
  hot.big = {{300, 70}};
  hot.bad = {{{ids({2}, {0, 4})}, index, "one_hot"},
             {{ids({2}, {0, -1})}, index, "one_hot"},
             {{floats({2}).no_grad()}, dtype, "one_hot"}};
  rows.push_back(std::move(hot));
  return rows;
}

}  // namespace fovea::cases
