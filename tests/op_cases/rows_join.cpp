// Operations that put tensors together or repeat them.
#include <algorithm>

#include "fovea/ops/ops.h"
#include "tests/op_cases/op_case.h"

namespace fovea::cases {
namespace {

NaiveTensor joined(const NaiveTensors& xs, int axis) {
  Shape out = xs[0].shape;
  out[axis] = 0;
  for (const NaiveTensor& x : xs) out[axis] += x.shape[axis];
  return build(out, [&](const Shape& i) {
    Shape at = i;
    for (const NaiveTensor& x : xs) {
      if (at[axis] < x.shape[axis]) return x.at(at);
      at[axis] -= x.shape[axis];
    }
    return 0.0;
  });
}

NaiveTensor repeated(const NaiveTensor& x, const Shape& times) {
  Shape from = x.shape;
  while (from.rank() < times.rank()) from.insert(0, 1);
  Shape out = from;
  for (int d = 0; d < out.rank(); ++d) out[d] *= times[d];
  const NaiveTensor padded = reshape(x, from);
  return build(out, [&](const Shape& i) {
    Shape at = i;
    for (int d = 0; d < at.rank(); ++d) at[d] %= from[d];
    return padded.at(at);
  });
}

NaiveTensor flipped(const NaiveTensor& x, const std::vector<int>& axes) {
  return build(x.shape, [&](const Shape& i) {
    Shape at = i;
    for (int a : axes) at[a] = x.shape[a] - 1 - i[a];
    return x.at(at);
  });
}

}  // namespace

std::vector<OpCase> rows_join() {
  std::vector<OpCase> rows;
  const auto add = [&](OpCase row) { rows.push_back(std::move(row)); };

  OpCase cat0;
  cat0.name = "cat";
  cat0.f = [](const Tensors& x) { return cat(x); };
  cat0.inputs = {floats({2, 3}), floats({1, 3}), floats({4, 3})};
  cat0.naive = [](const NaiveTensors& x) { return joined(x, 0); };
  cat0.one = all_one(cat0.inputs);
  cat0.zero = {{0, 3}, {1, 3}, {0, 3}};
  cat0.big = {{200, 129}, {1, 129}, {400, 129}};
  cat0.bad = {
      {{floats({2, 3}), floats({2, 4})}, ErrorKind::shape, "cat"},
      {{floats({2, 3}), floats({3})}, ErrorKind::shape, "cat"},
      {{}, ErrorKind::shape, "cat"},
      {{floats({2, 3})}, ErrorKind::index, "cat", [](const Tensors& x) { return cat(x, 2); }}};
  OpCase cat1 = cat0;
  cat1.label = "last";
  cat1.f = [](const Tensors& x) { return cat(x, -1); };
  cat1.inputs = {floats({2, 3}), floats({2, 1})};
  cat1.naive = [](const NaiveTensors& x) { return joined(x, 1); };
  cat1.one = {{1, 3}, {1, 1}};
  cat1.zero = {{2, 0}, {2, 1}};
  cat1.big = {{300, 129}, {300, 7}};
  cat1.bad = {};
  OpCase twice = cat1;
  twice.label = "itself";
  twice.f = [](const Tensors& x) { return cat({x[0], x[0]}, 1); };
  twice.inputs = {floats({2, 3})};
  twice.naive = [](const NaiveTensors& x) { return joined({x[0], x[0]}, 1); };
  twice.one = {{1, 1}};
  twice.zero = twice.big = {};
  OpCase mixed = twice;
  mixed.label = "i64_and_float";
  mixed.f = [](const Tensors& x) { return cat(x, 0); };
  mixed.inputs = {integers({2}, -3, 3), floats({3})};
  mixed.one = all_one(mixed.inputs);
  mixed.naive = [](const NaiveTensors& x) { return joined(x, 0); };
  add(cat0), add(cat1), add(twice), add(mixed);

  for (int axis : {0, 1, 2}) {
    OpCase row;
    row.name = "stack";
    row.label = axis == 0 ? "" : axis == 1 ? "middle" : "last";
    row.f = [axis](const Tensors& x) { return stack(x, axis == 2 ? -1 : axis); };
    row.inputs = {floats({2, 3}), floats({2, 3})};
    row.naive = [axis](const NaiveTensors& x) {
      NaiveTensors parts = x;
      for (NaiveTensor& p : parts) p.shape.insert(axis, 1);
      return joined(parts, axis);
    };
    row.one = {{1, 1}, {1, 1}};
    row.zero = {{0, 3}, {0, 3}};
    row.big = {{300, 129}, {300, 129}};
    row.bad = {{{floats({2, 3}), floats({2, 4})}, ErrorKind::shape, "stack"},
               {{}, ErrorKind::shape, "stack"}};
    add(row);
  }

  OpCase turn;
  turn.name = "flip";
  turn.f = [](const Tensors& x) { return flip(x[0], {0, -1}); };
  turn.inputs = {floats({3, 2, 4})};
  turn.naive = [](const NaiveTensors& x) { return flipped(x[0], {0, 2}); };
  turn.one = {{1, 1, 1}};
  turn.zero = {{0, 2, 4}};
  turn.big = {{50, 40, 33}};
  turn.bad = {
      {{floats({3})}, ErrorKind::index, "flip", [](const Tensors& x) { return flip(x[0], 1); }}};
  OpCase turn_one = turn;
  turn_one.label = "one";
  turn_one.f = [](const Tensors& x) { return flip(x[0], 1); };
  turn_one.naive = [](const NaiveTensors& x) { return flipped(x[0], {1}); };
  turn_one.bad = {};
  add(turn), add(turn_one);

  OpCase tile;
  tile.name = "repeat";
  tile.f = [](const Tensors& x) { return repeat(x[0], {2, 1, 3}); };
  tile.inputs = {floats({2, 3})};
  tile.naive = [](const NaiveTensors& x) { return repeated(x[0], {2, 1, 3}); };
  tile.one = {{1, 1}};
  tile.zero = {{0, 3}};
  tile.big = {{100, 129}};
  tile.bad = {{{floats({2, 3})}, ErrorKind::shape, "repeat", [](const Tensors& x) {
                 return repeat(x[0], {2});
               }}};
  OpCase none = tile;
  none.label = "no_times";
  none.f = [](const Tensors& x) { return repeat(x[0], {0, 2}); };
  none.naive = [](const NaiveTensors& x) { return repeated(x[0], {0, 2}); };
  none.zero = none.big = {};
  none.bad = {};
  add(tile), add(none);
  return rows;
}

}  // namespace fovea::cases
