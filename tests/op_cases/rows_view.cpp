// Operations that show the same elements in another shape, and copies.
#include <algorithm>

#include "fovea/ops/ops.h"
#include "tests/op_cases/op_case.h"

namespace fovea::cases {
namespace {

using Naive = std::function<NaiveTensor(const NaiveTensor&)>;

OpCase shaped(const char* name, const char* label, const Shape& shape,
              std::function<Tensor(const Tensor&)> f, Naive naive, std::vector<Shape> zero = {},
              std::vector<BadCase> bad = {}) {
  OpCase row;
  row.name = name;
  row.label = label;
  row.f = [f = std::move(f)](const Tensors& x) { return f(x[0]); };
  row.inputs = {floats(shape)};
  row.naive = [naive = std::move(naive)](const NaiveTensors& x) { return naive(x[0]); };
  row.zero = std::move(zero);
  row.bad = std::move(bad);
  return row;
}

BadCase wrong(const Shape& shape, ErrorKind error, const char* message,
              std::function<Tensor(const Tensor&)> f) {
  return {
      {floats(shape)}, error, message, [f = std::move(f)](const Tensors& x) { return f(x[0]); }};
}

// -1 for what is left, and in stretch() for the axis as it is.
Naive as(const Shape& shape) {
  return [shape](const NaiveTensor& x) {
    Shape to = shape;
    int64_t others = 1;
    for (int64_t n : shape) others *= n < 0 ? 1 : n;
    for (int64_t& n : to) n = n < 0 ? x.numel() / others : n;
    return reshape(x, to);
  };
}
Naive same() {
  return [](const NaiveTensor& x) { return x; };
}
// Elements start, start + step, ... below end along an axis.
Naive cut(int64_t axis, int64_t start, int64_t end, int64_t step) {
  return [=](const NaiveTensor& x) {
    return along(x, axis, [=](const Values1d& v) {
      Values1d y;
      for (int64_t i = start; i < std::min<int64_t>(end, v.size()); i += step) y.push_back(v[i]);
      return y;
    });
  };
}
Naive drop(int64_t axis, Naive f) {
  return [axis, f = std::move(f)](const NaiveTensor& x) {
    NaiveTensor y = f(x);
    y.shape.erase(static_cast<int>(axis < 0 ? axis + y.shape.rank() : axis));
    return y;
  };
}
Naive with_axis(int64_t axis) {
  return [axis](const NaiveTensor& x) {
    NaiveTensor y = x;
    y.shape.insert(static_cast<int>(axis < 0 ? axis + y.shape.rank() + 1 : axis), 1);
    return y;
  };
}
Naive stretch(const Shape& shape) {
  return [shape](const NaiveTensor& x) {
    Shape to = shape;
    const int ahead = to.rank() - x.shape.rank();
    for (int d = 0; d < to.rank(); ++d) to[d] = to[d] < 0 ? x.shape[d - ahead] : to[d];
    return build(to, [&](const Shape& i) { return x.at(i); });
  };
}

using X = const Tensor&;

void add_shapes(std::vector<OpCase>& rows) {
  const auto shape = ErrorKind::shape, index = ErrorKind::index;
  OpCase strict = shaped(
      "view", "", {2, 3, 4},
      [](X x) {
        return view(x, {6, -1});
      },
      as({6, -1}), {},
      {wrong({2, 3}, shape, "view", [](X x) { return view(x, {4}); }),
       wrong({2, 2}, shape, "use reshape", [](X x) { return view(transpose(x, 0, 1), {4}); })});
  strict.needs_contiguous = true;
  rows.push_back(std::move(strict));
  rows.push_back(shaped(
      "view", "transposed_kept", {2, 3, 4},
      [](X x) {
        return view(transpose(x, 0, 1), {3, 2, 2, 2});
      },
      [](const NaiveTensor& x) {
        return reshape(permute(x, {1, 0, 2}), {3, 2, 2, 2});
      }));
  rows.back().needs_contiguous = true;
  rows.push_back(shaped("reshape", "", {2, 3, 4},
                        [](X x) {
                          return reshape(x, {3, -1});
                        },
                        as({3, -1}), {},
                        {wrong({2, 3}, shape, "reshape", [](X x) { return reshape(x, {4}); }),
                         wrong({2, 3}, shape, "reshape",
                               [](X x) {
                                 return reshape(x, {-1, -1});
                               }),
                         wrong({2, 3}, shape, "reshape",
                               [](X x) {
                                 return reshape(x, {4, -1});
                               }),
                         wrong({0, 3}, shape, "reshape", [](X x) {
                           return reshape(x, {0, -1});
                         })}));
  rows.push_back(shaped(
      "reshape", "of_transposed", {2, 3}, [](X x) { return reshape(transpose(x, 0, 1), {6}); },
      [](const NaiveTensor& x) {
        return reshape(permute(x, {1, 0}), {6});
      }));
  rows.push_back(shaped(
      "reshape", "to_scalar", {1, 1}, [](X x) { return reshape(x, {}); }, as({})));
  rows.push_back(shaped(
      "reshape", "empty", {4, 3},
      [](X x) {
        return reshape(x, {3, x.size(0)});
      },
      [](const NaiveTensor& x) {
        return reshape(x, {3, x.shape[0]});
      },
      {{0, 3}}));
  rows.push_back(shaped(
      "flatten", "", {2, 3, 4}, [](X x) { return flatten(x); },
      [](const NaiveTensor& x) { return reshape(x, {x.numel()}); }, {{0, 3, 4}},
      {wrong({2, 3}, index, "flatten", [](X x) { return flatten(x, 0, 2); })}));
  rows.push_back(shaped(
      "flatten", "middle", {2, 3, 1, 4}, [](X x) { return flatten(x, 1, -2); }, as({2, 3, 4})));
  rows.push_back(shaped(
      "flatten", "scalar", {}, [](X x) { return flatten(x); }, as({1})));
  rows.push_back(shaped(
      "transpose", "", {2, 3, 4}, [](X x) { return transpose(x, 0, -1); },
      [](const NaiveTensor& x) {
        return permute(x, {2, 1, 0});
      },
      {{0, 3, 4}}, {wrong({2, 3}, index, "transpose", [](X x) { return transpose(x, 0, 2); })}));
  rows.push_back(shaped(
      "permute", "", {2, 3, 4},
      [](X x) {
        return permute(x, {2, 0, -2});
      },
      [](const NaiveTensor& x) {
        return permute(x, {2, 0, 1});
      },
      {{2, 0, 4}},
      {wrong({2, 3}, ErrorKind::shape, "permute", [](X x) { return permute(x, {0}); }),
       wrong({2, 3}, index, "permute", [](X x) {
         return permute(x, {0, 2});
       })}));
  rows.push_back(shaped(
      "squeeze", "", {1, 3, 1, 2}, [](X x) { return squeeze(x); },
      [](const NaiveTensor& x) {
        NaiveTensor y{{}, x.data};
        for (int64_t n : x.shape) {
          if (n != 1) y.shape.push_back(n);
        }
        return y;
      }));
  rows.push_back(shaped("squeeze", "axis", {1, 3, 1, 2}, [](X x) { return squeeze(x, -2); },
                        drop(-2, same()), {},
                        {wrong({1, 3}, index, "squeeze", [](X x) { return squeeze(x, 2); })}));
  rows.push_back(shaped(
      "squeeze", "axis_not_one", {1, 3}, [](X x) { return squeeze(x, 1); }, same()));
  rows.push_back(shaped("unsqueeze", "", {2, 3}, [](X x) { return unsqueeze(x, 1); }, with_axis(1),
                        {},
                        {wrong({2, 3}, index, "unsqueeze", [](X x) { return unsqueeze(x, 3); })}));
  rows.push_back(shaped(
      "unsqueeze", "last", {2, 3}, [](X x) { return unsqueeze(x, -1); }, with_axis(-1)));
}

void add_parts(std::vector<OpCase>& rows) {
  const auto shape = ErrorKind::shape, index = ErrorKind::index, value = ErrorKind::value;
  rows.push_back(shaped("expand", "", {3, 1},
                        [](X x) {
                          return expand(x, {2, -1, 4});
                        },
                        stretch({2, -1, 4}), {},
                        {wrong({3, 2}, shape, "expand",
                               [](X x) {
                                 return expand(x, {3, 4});
                               }),
                         wrong({3, 2}, shape, "expand", [](X x) { return expand(x, {2}); })}));
  rows.push_back(shaped(
      "expand", "scalar", {},
      [](X x) {
        return expand(x, {2, 2});
      },
      stretch({2, 2})));
  rows.push_back(shaped(
      "expand", "to_zero", {1, 3},
      [](X x) {
        return expand(x, {0, 3});
      },
      stretch({0, 3})));
  rows.push_back(shaped("broadcast_to", "", {1, 3},
                        [](X x) {
                          return broadcast_to(x, {2, 4, -1});
                        },
                        stretch({2, 4, -1}), {},
                        {wrong({3}, shape, "", [](X x) { return broadcast_to(x, {4}); })}));
  rows.push_back(shaped("select", "", {3, 4, 2}, [](X x) { return select(x, 1, 2); },
                        drop(1, cut(1, 2, 3, 1)), {{0, 4, 2}},
                        {wrong({3, 4}, index, "select", [](X x) { return select(x, 1, 4); }),
                         wrong({3, 4}, index, "select", [](X x) { return select(x, 1, -5); }),
                         wrong({3, 4}, index, "select", [](X x) { return select(x, 2, 0); })}));
  rows.push_back(shaped(
      "select", "negative", {3, 4}, [](X x) { return select(x, 0, -1); },
      drop(0, cut(0, 2, 3, 1))));
  rows.push_back(shaped(
      "select", "brackets", {3, 4}, [](X x) { return x[1]; }, drop(0, cut(0, 1, 2, 1))));
  rows.push_back(shaped("slice", "", {5, 4}, [](X x) { return slice(x, 0, 1, 4); }, cut(0, 1, 4, 1),
                        {{5, 0}},
                        {wrong({5}, index, "slice", [](X x) { return slice(x, 1); }),
                         wrong({5}, value, "slice", [](X x) { return slice(x, 0, 0, 5, 0); }),
                         wrong({5}, value, "slice", [](X x) { return slice(x, 0, 0, 5, -1); })}));
  rows.push_back(shaped("slice", "step", {3, 7}, [](X x) { return slice(x, 1, 1, kEnd, 2); },
                        cut(1, 1, kEnd, 2), {{0, 7}}));
  rows.push_back(shaped(
      "slice", "negative", {7, 2}, [](X x) { return slice(x, 0, -3, -1); }, cut(0, 4, 6, 1)));
  rows.push_back(shaped(
      "slice", "past_the_end", {4, 2}, [](X x) { return slice(x, 0, 2, 99); }, cut(0, 2, 4, 1)));
  rows.push_back(shaped(
      "slice", "nothing", {4, 2}, [](X x) { return slice(x, 0, 3, 1); }, cut(0, 0, 0, 1)));
  rows.push_back(shaped("narrow", "", {5, 4}, [](X x) { return narrow(x, -1, 1, 2); },
                        cut(1, 1, 3, 1), {{0, 4}},
                        {wrong({5}, index, "narrow", [](X x) { return narrow(x, 0, 3, 3); }),
                         wrong({5}, index, "narrow", [](X x) { return narrow(x, 0, 0, -1); })}));
  // Several results: read in another order, so that a swap shows, and each with its own gradient.
  rows.push_back(shaped(
      "split", "", {5, 3},
      [](X x) {
        const Tensors p = split(x, 2);
        return cat({p.at(2), p.at(0), p.at(1)});
      },
      [](const NaiveTensor& x) {
        return along(x, 0, [](const Values1d& v) {
          return Values1d{v[4], v[0], v[1], v[2], v[3]};
        });
      },
      {{5, 0}},
      {wrong({5}, value, "split", [](X x) { return split(x, 0)[0]; }),
       wrong({5}, index, "split", [](X x) { return split(x, 1, 1)[0]; })}));
  rows.push_back(shaped("split", "sizes", {3, 6},
                        [](X x) {
                          return split(x, std::vector<int64_t>{1, 3, 2}, 1).at(1);
                        },
                        cut(1, 1, 4, 1), {{0, 6}}, {wrong({5}, shape, "split", [](X x) {
                          return split(x, std::vector<int64_t>{1, 3})[0];
                        })}));
  rows.push_back(shaped("chunk", "", {7, 2}, [](X x) { return chunk(x, 3).at(1); }, cut(0, 3, 6, 1),
                        {{7, 0}},
                        {wrong({5}, value, "chunk", [](X x) { return chunk(x, 0)[0]; })}));
  rows.push_back(shaped("unbind", "", {3, 4}, [](X x) { return unbind(x, 1).at(2); },
                        drop(1, cut(1, 2, 3, 1)), {{0, 4}}));
}

void add_copies(std::vector<OpCase>& rows) {
  rows.push_back(
      shaped("contiguous", "", {3, 4}, [](X x) { return contiguous(x); }, same(), {{0, 4}}));
  rows.push_back(shaped(
      "contiguous", "of_transposed", {3, 4}, [](X x) { return contiguous(transpose(x, 0, 1)); },
      [](const NaiveTensor& x) {
        return permute(x, {1, 0});
      },
      {{0, 4}}));
  rows.push_back(shaped("clone", "", {3, 4}, [](X x) { return clone(x); }, same(), {{0, 4}}));
  rows.push_back(shaped(
      "to", "same", {3, 4}, [](X x) { return to(x, x.dtype()); }, same()));
  OpCase wide = shaped("to", "f64", {3, 4}, [](X x) { return to(x, f64); }, same(), {{0, 4}});
  wide.result = f64;
  rows.push_back(std::move(wide));
  OpCase whole = shaped(
      "to", "i64", {3, 4}, [](X x) { return to(x, i64); },
      [](const NaiveTensor& x) {
        return map(x, [](double v) { return double(static_cast<int64_t>(v)); });
      });
  whole.inputs[0].grad = false;
  whole.result = i64;
  whole.differentiable = false;
  rows.push_back(whole);
  OpCase flags = shaped(
      "to", "bool", {5}, [](X x) { return to(x, boolean); },
      [](const NaiveTensor& x) { return map(x, [](double v) { return double(v != 0); }); });
  flags.inputs = {floats({5}).holding({0, 0.25, -0.0, 3, -1}).no_grad()};
  flags.result = boolean;
  flags.differentiable = false;
  rows.push_back(std::move(flags));
}

// Pieces of an axis that has one element.
void add_singles(std::vector<OpCase>& rows) {
  const auto single = [&](const char* name, std::function<Tensor(X)> f, Naive naive) {
    rows.push_back(shaped(name, "single", {1, 1}, std::move(f), std::move(naive)));
    rows.back().one = {{1, 1}};
  };
  single(
      "select", [](X x) { return select(x, 0, -1); }, drop(0, same()));
  single(
      "slice", [](X x) { return slice(x, 1, -1); }, same());
  single(
      "narrow", [](X x) { return narrow(x, 0, 0, 1); }, same());
  single(
      "split", [](X x) { return split(x, 2).at(0); }, same());
  single(
      "chunk", [](X x) { return chunk(x, 3, 1).at(0); }, same());
  single(
      "unbind", [](X x) { return unbind(x).at(0); }, drop(0, same()));
}

// Other sizes for the rows above; those of 0 where the row did not say.
void add_sizes(std::vector<OpCase>& rows) {
  struct Sizes {
    const char* id;
    Shape one, big;
    std::optional<Shape> zero = {};
  };
  const std::vector<Sizes> sizes{
      {"view", {1, 6, 1}, {60, 31, 65}, Shape{0, 3, 4}},
      {"reshape", {1, 3, 1}, {60, 31, 65}, Shape{2, 3, 0}},
      {"flatten", {1, 1, 1}, {40, 31, 65}},
      {"transpose", {1, 1, 1}, {40, 31, 65}},
      {"permute", {1, 1, 1}, {40, 31, 65}},
      {"squeeze", {1, 1, 1, 1}, {1, 300, 1, 257}, Shape{1, 0, 1, 2}},
      {"squeeze.axis", {1, 1, 1, 1}, {1, 300, 1, 257}, Shape{0, 3, 1, 2}},
      {"unsqueeze", {1, 1}, {300, 257}, Shape{2, 0}},
      {"unsqueeze.last", {1, 1}, {300, 257}, Shape{0, 3}},
      {"expand", {1, 1}, {20000, 1}, Shape{0, 1}},
      {"broadcast_to", {1, 1}, {1, 20000}, Shape{1, 0}},
      {"select", {1, 3, 1}, {400, 4, 129}},
      {"slice", {2, 1}, {4, 20000}},
      {"slice.step", {1, 2}, {300, 257}},
      {"narrow", {1, 3}, {20000, 4}},
      {"split", {5, 1}, {5, 20000}},
      {"split.sizes", {1, 6}, {20000, 6}},
      {"chunk", {7, 1}, {7, 20000}},
      {"unbind", {1, 3}, {20000, 4}},
      {"contiguous", {1, 1}, {300, 257}},
      {"contiguous.of_transposed", {1, 1}, {300, 257}},
      {"clone", {1, 1}, {300, 257}},
      {"to.f64", {1, 1}, {300, 257}},
      {"to.i64", {1, 1}, {300, 257}, Shape{0, 4}},
      {"to.bool", {1}, {70001}, Shape{0}},
  };
  for (const Sizes& s : sizes) {
    const auto row =
        std::find_if(rows.begin(), rows.end(), [&](const OpCase& r) { return r.id() == s.id; });
    row->one = {s.one}, row->big = {s.big};
    if (s.zero) row->zero = {*s.zero};
  }
}

}  // namespace

std::vector<OpCase> rows_view() {
  std::vector<OpCase> rows;
  add_shapes(rows);
  add_parts(rows);
  add_copies(rows);
  add_singles(rows);
  add_sizes(rows);
  return rows;
}

}  // namespace fovea::cases
