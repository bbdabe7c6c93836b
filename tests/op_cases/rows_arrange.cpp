// Rearrangements, sums of products by letter, selection by mask and writing by index.
#include <algorithm>
#include <cmath>
#include <map>

#include "fovea/ops/ops.h"
#include "tests/op_cases/op_case.h"

namespace fovea::cases {
namespace {

OpCase make(const char* name, const char* label, Function f, std::vector<InputSpec> inputs,
            std::function<NaiveTensor(const NaiveTensors&)> naive) {
  OpCase row;
  row.name = name;
  row.label = label;
  row.f = std::move(f);
  row.inputs = std::move(inputs);
  row.naive = std::move(naive);
  row.one = all_one(row.inputs);
  return row;
}

int64_t wrapped(int64_t i, int64_t n) { return ((i % n) + n) % n; }

void add_roll(std::vector<OpCase>& rows) {
  for (int64_t shift : {1, -2, 9, 0}) {
    const int64_t axis = shift == 1 ? -1 : shift == -2 ? 0 : 1;
    OpCase row = make(
        "roll",
        shift == 1    ? "last"
        : shift == -2 ? "first"
        : shift == 9  ? "far"
                      : "none",
        [=](const Tensors& x) { return roll(x[0], shift, axis); }, {floats({3, 4, 5})},
        [=](const NaiveTensors& x) {
          return along(x[0], axis, [=](const Values1d& v) {
            Values1d y;
            const auto n = static_cast<int64_t>(v.size());
            for (int64_t i = 0; i < n; ++i) y.push_back(v[wrapped(i - shift, n)]);
            return y;
          });
        });
    row.zero = {axis == 1 ? Shape{3, 0, 5} : Shape{0, 4, 5}};
    row.big = {{40, 31, 65}};
    if (shift == 1) {
      row.bad = {
          {{floats({3})}, kIndex, "roll", [](const Tensors& x) { return roll(x[0], 1, 1); }}};
    }
    rows.push_back(std::move(row));
  }
}

void add_pad(std::vector<OpCase>& rows) {
  const auto padded = [&](const char* label, const std::vector<int64_t>& w, double value,
                          const Shape& shape) {
    return make(
        "pad", label, [=](const Tensors& x) { return pad(x[0], w, value); }, {floats(shape)},
        [=](const NaiveTensors& x) {
          Shape out = x[0].shape, before = Shape::filled(out.rank(), 0);
          for (size_t i = 0; i < w.size() / 2; ++i) {
            const int d = out.rank() - 1 - static_cast<int>(i);
            out[d] += w[2 * i] + w[2 * i + 1];
            before[d] = w[2 * i];
          }
          return build(out, [&](const Shape& i) {
            Shape at = i;
            for (int d = 0; d < i.rank(); ++d) {
              at[d] = i[d] - before[d];
              if (at[d] < 0 || at[d] >= x[0].shape[d]) return value;
            }
            return x[0].at(at);
          });
        });
  };
  OpCase last = padded("", {1, 2}, 0, {3, 4});
  last.zero = {{0, 4}};
  last.big = {{300, 257}};
  last.bad = {
      {{floats({3})}, kShape, "pad: 1 widths", [](const Tensors& x) { return pad(x[0], {1}); }},
      {{floats({3})},
       kShape,
       "pad: 4 widths",
       [](const Tensors& x) {
         return pad(x[0], {1, 1, 1, 1});
       }},
      {{floats({3})}, kShape, "pad: widths -2 and -2", [](const Tensors& x) {
         return pad(x[0], {-2, -2});
       }}};
  OpCase two = padded("two_axes", {0, 1, 2, 0}, -1.5, {2, 3, 4});
  two.zero = {{2, 0, 4}};
  two.big = {{40, 31, 65}};
  rows.push_back(std::move(last));
  rows.push_back(std::move(two));
  rows.push_back(padded("crop", {-1, -1}, 0, {3, 4}));
  rows.back().one = {{1, 3}};
  rows.push_back(padded("crop_and_pad", {-1, 2, 1, -2}, 3, {3, 4}));
  rows.back().one = {{2, 1}};
  rows.push_back(padded("none", {}, 0, {3, 4}));
}

void add_unfold(std::vector<OpCase>& rows) {
  const auto unfolded = [](const char* label, int64_t axis, int64_t size, int64_t step) {
    OpCase row = make(
        "unfold", label, [=](const Tensors& x) { return unfold(x[0], axis, size, step); },
        {floats({2, 5, 3})},
        [=](const NaiveTensors& x) {
          Shape out = x[0].shape;
          const int d = static_cast<int>(axis < 0 ? axis + out.rank() : axis);
          out[d] = (out[d] - size) / step + 1;
          out.push_back(size);
          return build(out, [&](const Shape& i) {
            Shape at = i;
            at.erase(i.rank() - 1);
            at[d] = i[d] * step + i.back();
            return x[0].at(at);
          });
        });
    row.one[0][static_cast<int>(axis < 0 ? 2 : axis)] = size;  // one window
    return row;
  };
  OpCase middle = unfolded("", 1, 3, 1);
  middle.zero = {{0, 5, 3}};
  middle.big = {{20, 60, 33}};
  middle.bad = {
      {{floats({3})},
       kShape,
       "unfold: size 4",
       [](const Tensors& x) { return unfold(x[0], 0, 4, 1); }},
      {{floats({3})}, kShape, "step 0", [](const Tensors& x) { return unfold(x[0], 0, 2, 0); }},
      {{floats({3})}, kIndex, "unfold", [](const Tensors& x) { return unfold(x[0], 1, 2, 1); }}};
  rows.push_back(std::move(middle));
  rows.push_back(unfolded("apart", 1, 2, 3));
  rows.push_back(unfolded("last", -1, 2, 1));
  rows.push_back(unfolded("first_whole", 0, 2, 5));
  rows.push_back(unfolded("single", 1, 1, 1));
}

void add_diagonals(std::vector<OpCase>& rows) {
  for (int64_t k : {0, 1, -2}) {
    OpCase to = make(
        "diag",
        k == 0   ? "of_vector"
        : k == 1 ? "above"
                 : "below",
        [k](const Tensors& x) { return diag(x[0], k); }, {floats({4})},
        [k](const NaiveTensors& x) {
          const int64_t n = x[0].numel() + std::abs(k);
          return build({n, n}, [&](const Shape& i) {
            return i[1] - i[0] == k ? x[0].at({std::min(i[0], i[1])}) : 0.0;
          });
        });
    to.zero = {{0}};
    to.big = {{300}};
    OpCase from = make(
        "diag",
        k == 0   ? ""
        : k == 1 ? "from_above"
                 : "from_below",
        [k](const Tensors& x) { return diag(x[0], k); }, {floats({4, 3})},
        [k](const NaiveTensors& x) {
          NaiveTensor y{{0}, {}};
          each_index(x[0].shape, [&](const Shape& i) {
            if (i[1] - i[0] == k) y.data.push_back(x[0].at(i));
          });
          y.shape[0] = y.numel();
          return y;
        });
    from.zero = {{0, 3}};
    from.big = {{300, 257}};
    if (k == 0) from.bad = {{{floats({2, 2, 2})}, kShape, "diag: x"}};
    rows.push_back(std::move(to));
    rows.push_back(std::move(from));
    for (bool lower : {true, false}) {
      OpCase part = make(
          lower ? "tril" : "triu",
          k == 0   ? ""
          : k == 1 ? "above"
                   : "below",
          [k, lower](const Tensors& x) { return lower ? tril(x[0], k) : triu(x[0], k); },
          {floats({2, 3, 4})},
          [k, lower](const NaiveTensors& x) {
            return build(x[0].shape, [&](const Shape& i) {
              const int64_t off = i[2] - i[1];
              return (lower ? off <= k : off >= k) ? x[0].at(i) : 0.0;
            });
          });
      part.zero = {{2, 0, 4}};
      part.big = {{20, 60, 33}};
      if (k == 0) part.bad = {{{floats({3})}, kShape, lower ? "tril: x" : "triu: x"}};
      rows.push_back(std::move(part));
    }
  }
}

void add_repeats(std::vector<OpCase>& rows) {
  for (int64_t times : {3, 1, 0}) {
    const int64_t axis = times == 3 ? 1 : -1;
    OpCase row = make(
        "repeat_interleave",
        times == 3   ? ""
        : times == 1 ? "once"
                     : "none",
        [=](const Tensors& x) { return repeat_interleave(x[0], times, axis); }, {floats({2, 3, 4})},
        [=](const NaiveTensors& x) {
          return along(x[0], axis, [=](const Values1d& v) {
            Values1d y;
            for (double a : v) y.insert(y.end(), static_cast<size_t>(times), a);
            return y;
          });
        });
    row.zero = {{2, 0, 4}};
    row.big = {{20, 60, 33}};
    if (times == 3) {
      row.bad = {{{floats({3})},
                  kValue,
                  "times is -1",
                  [](const Tensors& x) { return repeat_interleave(x[0], -1, 0); }},
                 {{floats({3})}, kIndex, "repeat_interleave", [](const Tensors& x) {
                    return repeat_interleave(x[0], 2, 1);
                  }}};
    }
    rows.push_back(std::move(row));
  }
  for (int k : {0, 1, 2}) {
    OpCase grid = make(
        "meshgrid",
        k == 0   ? "first"
        : k == 1 ? "second"
                 : "third",
        [k](const Tensors& x) { return meshgrid(x)[static_cast<size_t>(k)]; },
        {floats({3}), floats({4}), floats({})},
        [k](const NaiveTensors& x) {
          return build({x[0].numel(), x[1].numel(), 1}, [&](const Shape& i) {
            return x[static_cast<size_t>(k)].data[static_cast<size_t>(i[k])];
          });
        });
    grid.zero = {{0}, {4}, {}};
    grid.big = {{300}, {257}, {}};
    if (k == 0) {
      grid.bad = {{{floats({2, 2})}, kShape, "meshgrid: x", [](const Tensors& x) {
                     return meshgrid({x[0]})[0];
                   }}};
    }
    rows.push_back(std::move(grid));
  }
}

// Every value of every letter. No ellipsis here: rows spell out what it stands for.
NaiveTensor einsum_of(const std::string& equation, const NaiveTensors& xs) {
  const size_t arrow = equation.find("->");
  const std::string left = equation.substr(0, arrow), right = equation.substr(arrow + 2);
  std::string letters = right;
  std::map<char, int64_t> size;
  size_t operand = 0;
  int d = 0;
  std::vector<std::string> parts(1);
  for (char c : left) {
    if (c == ',') {
      parts.emplace_back(), ++operand, d = 0;
      continue;
    }
    parts.back() += c;
    size[c] = std::max(size[c], xs[operand].shape[d++]);
    if (letters.find(c) == std::string::npos) letters += c;
  }
  Shape all, out;
  for (char c : letters) all.push_back(size[c]);
  for (char c : right) out.push_back(size[c]);
  NaiveTensor y = filled(out, 0);
  const auto pick = [&](const std::string& names, const Shape& i) {
    Shape at;
    for (char c : names) at.push_back(i[static_cast<int>(letters.find(c))]);
    return at;
  };
  each_index(all, [&](const Shape& i) {
    double v = 1;
    for (size_t k = 0; k < xs.size(); ++k) v *= xs[k].at(pick(parts[k], i));
    y.at(pick(right, i)) += v;
  });
  return y;
}

void add_einsum(std::vector<OpCase>& rows) {
  const auto summed = [&](const char* label, std::string equation, std::vector<Shape> shapes,
                          std::string spelt = {}) -> OpCase& {
    std::vector<InputSpec> inputs;
    for (const Shape& s : shapes) inputs.push_back(floats(s));
    const std::string plain = spelt.empty() ? equation : spelt;
    rows.push_back(make(
        "einsum", label, [equation](const Tensors& x) { return einsum(equation, x); },
        std::move(inputs), [plain](const NaiveTensors& x) { return einsum_of(plain, x); }));
    return rows.back();
  };
  OpCase& scores = summed("scores", "bqd,bkd->bqk", {{2, 3, 4}, {2, 2, 4}});
  scores.zero = {{2, 0, 4}, {2, 2, 4}};
  scores.big = {{3, 60, 33}, {3, 50, 33}};
  const auto bad = [](const char* equation, std::vector<InputSpec> in, const char* message) {
    return BadCase{std::move(in), kShape, message,
                   [equation](const Tensors& x) { return einsum(equation, x); }};
  };
  scores.bad = {bad("ij,jk->ik", {floats({2, 3})}, "names 2 operands, 1 were given"),
                bad("ij,jk->ik", {floats({2, 3}), floats({4, 2})}, "letter 'j' has sizes 3 and 4"),
                bad("ijk->i", {floats({2, 3})}, "does not fit operand 0"),
                bad("ij->k", {floats({2, 3})}, "letter 'k' of the result is in no operand"),
                bad("ij->ii", {floats({2, 2})}, "occurs twice"),
                bad("ii->i", {floats({2, 3})}, "sizes 2 and 3 in one operand"),
                bad("i1->i", {floats({2, 3})}, "'1' is no letter"),
                {{integers({2, 3}, 0, 4)}, kDType, "einsum: ", [](const Tensors& x) {
                   return einsum("ij->i", x);
                 }}};
  summed("matmul", "ij,jk", {{3, 4}, {4, 2}}, "ij,jk->ik");
  summed("inner_gone", "ij,jk->ik", {{3, 0}, {0, 2}});
  summed("transposed", "ij->ji", {{3, 4}});
  summed("same", "ij->ij", {{3, 4}});
  summed("implicit_order", "ba", {{3, 4}}, "ba->ab");
  summed("trace", "ii->", {{4, 4}});
  summed("diagonal", "ii->i", {{4, 4}});
  summed("batch_diagonal", "iji->ji", {{3, 2, 3}});
  summed("sum", "ijk->j", {{2, 3, 4}});
  summed("dot", "i,i->", {{5}, {5}});
  summed("outer", "i,j->ji", {{3}, {4}});
  summed("hadamard", "ij,ij->ij", {{3, 4}, {3, 4}});
  summed("alone_in_one", "ik,jl->ij", {{2, 3}, {4, 2}});
  summed("chain", "ij,jk,kl->il", {{2, 3}, {3, 4}, {4, 2}});
  summed("bilinear", "bi,oij,bj->bo", {{2, 3}, {4, 3, 2}, {2, 2}});
  summed("shared_by_three", "i,i,i->i", {{4}, {4}, {4}});
  summed("stretched", "ij,ij->ij", {{3, 1}, {1, 4}});
  summed("stretched_sum", "ij,ij->i", {{3, 1}, {3, 4}});
  summed("spaces", "i j, j k -> i k", {{2, 3}, {3, 2}}, "ij,jk->ik");
  summed("dots", "...ij,...jk->...ik", {{2, 3, 4}, {2, 4, 2}}, "bij,bjk->bik");
  summed("dots_implicit", "...ij,...jk", {{2, 1, 3, 4}, {2, 4, 2}}, "abij,bjk->abik");
  summed("dots_sum", "...i->...", {{2, 3, 4}}, "abi->ab");
  summed("dots_none", "...i,i->...", {{4}, {4}}, "i,i->");
}

void add_bmm(std::vector<OpCase>& rows) {
  OpCase row = make(
      "bmm", "", [](const Tensors& x) { return bmm(x[0], x[1]); },
      {floats({2, 3, 4}), floats({2, 4, 5})},
      [](const NaiveTensors& x) { return matmul(x[0], x[1]); });
  row.zero = {{2, 3, 0}, {2, 0, 5}};
  row.big = {{5, 60, 33}, {5, 33, 70}};
  row.bad = {{{floats({2, 3}), floats({3, 2})}, kShape, "bmm: "},
             {{floats({2, 3, 4}), floats({1, 4, 5})}, kShape, "bmm: "},
             {{floats({2, 3, 4}), floats({2, 3, 5})}, kShape, "bmm: "}};
  rows.push_back(std::move(row));
}

void add_masked(std::vector<OpCase>& rows) {
  const auto picked = [](const NaiveTensors& x) {
    NaiveTensor y{{0}, {}};
    each_index(broadcast_shapes("", x[0].shape, x[1].shape), [&](const Shape& i) {
      if (x[1].at(i) != 0) y.data.push_back(x[0].at(i));
    });
    y.shape[0] = y.numel();
    return y;
  };
  const Function select = [](const Tensors& x) { return masked_select(x[0], x[1]); };
  OpCase row = make("masked_select", "", select, {floats({3, 4}), bools({3, 4})}, picked);
  row.zero = {{0, 4}, {0, 4}};
  row.big = {{300, 257}, {300, 257}};
  row.bad = {{{floats({3}), bools({4})}, kShape, "masked_select"},
             {{floats({3}), integers({3}, 0, 2)}, kDType, "masked_select: mask"}};
  rows.push_back(std::move(row));
  rows.push_back(make("masked_select", "broadcast", select, {floats({3, 1}), bools({4})}, picked));
  rows.push_back(make("masked_select", "none", select,
                      {floats({2, 2}), bools({2, 2}).holding({0, 0, 0, 0})}, picked));
}

void add_scatter(std::vector<OpCase>& rows) {
  const auto scattered = [](const char* label, int64_t axis, const Shape& x, InputSpec index,
                            const Shape& src) {
    OpCase row = make(
        "scatter", label, [axis](const Tensors& in) { return scatter(in[0], axis, in[1], in[2]); },
        {floats(x), std::move(index), floats(src)},
        [axis](const NaiveTensors& in) {
          NaiveTensor y = in[0];
          each_index(in[1].shape, [&](const Shape& i) {
            Shape at = i;
            at[static_cast<int>(axis < 0 ? axis + i.rank() : axis)] =
                static_cast<int64_t>(in[1].at(i));
            y.at(at) = in[2].at(i);
          });
          return y;
        });
    const int looked = static_cast<int>(axis < 0 ? axis + x.rank() : axis);
    row.one[0][looked] = x[looked];  // the index looks into it
    return row;
  };
  OpCase row = scattered("", 0, {4, 3}, integers({6, 3}, 0, 4), {6, 3});  // places meet
  row.zero = {{4, 3}, {0, 3}, {0, 3}};
  row.big = {{40, 130}, {900, 130}, {900, 130}};
  const auto ids = [](const Shape& s, std::vector<double> v) {
    return integers(s, 0, 1).holding(std::move(v));
  };
  row.bad = {
      {{floats({2, 3}), ids({1, 1}, {2}), floats({1, 1})}, kIndex, "scatter: "},
      {{floats({2, 3}), ids({1, 1}, {-1}), floats({1, 1})}, kIndex, "scatter: "},
      {{floats({2, 3}), integers({2}, 0, 1), floats({2})}, kShape, "scatter: "},
      {{floats({2, 3}), integers({2, 1}, 0, 1), floats({1, 1})}, kShape, "scatter: "},
      {{floats({2, 3}), integers({2, 1}, 0, 1), floats({2})}, kShape, "scatter: "},
      {{floats({2, 3}), floats({1, 1}).no_grad(), floats({1, 1})}, kDType, "scatter: index"},
      {{floats({2, 3}), integers({1, 1}, 0, 1), integers({1, 1}, 0, 1)}, kDType, "scatter: src"}};
  rows.push_back(std::move(row));
  rows.push_back(scattered("last", -1, {2, 3, 4}, integers({2, 3, 2}, 0, 4), {2, 3, 2}));
  rows.push_back(scattered("smaller_index", 1, {4, 3}, integers({2, 2}, 0, 3), {3, 3}));
  rows.push_back(scattered("single", 1, {1, 1}, integers({1, 1}, 0, 1), {1, 1}));

  OpCase put = make(
      "index_put_add", "", [](const Tensors& in) { return index_put_add(in[0], in[1], in[2]); },
      {floats({4, 3}), integers({6}, 0, 4), floats({6, 3})},
      [](const NaiveTensors& in) {
        NaiveTensor y = in[0];
        each_index(in[2].shape, [&](const Shape& i) {
          Shape at = i;
          at[0] = static_cast<int64_t>(in[1].at({i[0]}));
          y.at(at) += in[2].at(i);
        });
        return y;
      });
  put.one = {{4, 1}, {1}, {1, 1}};
  put.zero = {{4, 3}, {0}, {0, 3}};
  put.big = {{4, 700}, {200}, {200, 700}};
  put.bad = {
      {{floats({2, 3}), ids({1}, {2}), floats({1, 3})}, kIndex, "index_put_add: "},
      {{floats({2, 3}), integers({2}, 0, 1), floats({1, 3})}, kShape, "index_put_add: x"},
      {{floats({2, 3}), integers({1, 1}, 0, 1), floats({1, 3})}, kShape, "index_put_add: x"},
      {{floats({2, 3}), floats({1}).no_grad(), floats({1, 3})}, kDType, "index_put_add: index"}};
  OpCase line = put;
  line.label = "vector";
  line.inputs = {floats({5}), integers({7}, 0, 5), floats({7})};
  line.one = {{5}, {1}, {1}};
  line.zero = line.big = {};
  line.bad = {};
  OpCase single = line;
  single.label = "single";
  single.inputs = {floats({1}), integers({1}, 0, 1), floats({1})};
  single.one = all_one(single.inputs);
  for (OpCase* r : {&put, &line, &single}) rows.push_back(std::move(*r));
}

}  // namespace

std::vector<OpCase> rows_arrange() {
  std::vector<OpCase> rows;
  add_roll(rows);
  add_pad(rows);
  add_unfold(rows);
  add_diagonals(rows);
  add_repeats(rows);
  add_einsum(rows);
  add_bmm(rows);
  add_masked(rows);
  add_scatter(rows);
  return rows;
}

}  // namespace fovea::cases
