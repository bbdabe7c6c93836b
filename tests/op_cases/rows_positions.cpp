// Positions that are added to tokens, or turn them: the rotation of pairs and its layers.
#include <cmath>

#include "fovea/nn/position/learned.h"
#include "fovea/nn/position/rotary.h"
#include "fovea/nn/position/sinusoidal.h"
#include "tests/op_cases/layer_row.h"

namespace fovea::cases {
namespace {

// Element c of a vector whose pairs are turned, from the vector and the angle of each pair.
template <class X, class Angle>
double turned(const X& x, const Angle& angle, int64_t c, int64_t d, RopePairing pairing) {
  const bool half = pairing == RopePairing::half;
  const int64_t pair = half ? c % (d / 2) : c / 2;
  const int64_t a = half ? pair : 2 * pair, b = half ? pair + d / 2 : 2 * pair + 1;
  const double t = angle(pair);
  return c == a ? x(a) * std::cos(t) - x(b) * std::sin(t) : x(a) * std::sin(t) + x(b) * std::cos(t);
}

double clock(int64_t position, int64_t pair, int64_t d) {
  return static_cast<double>(position) /
         std::pow(10000.0, 2 * static_cast<double>(pair) / static_cast<double>(d));
}

Shape with_last(Shape at, int64_t c) {
  at[at.rank() - 1] = c;
  return at;
}

void add_rope(std::vector<OpCase>& rows) {
  const auto row = [&](const char* label, const Shape& x, const Shape& angle, RopePairing pairing) {
    OpCase r;
    r.name = "rope";
    r.label = label;
    r.inputs = {floats(x), floats(angle).no_grad().range(-4, 4)};
    r.f = [pairing](const Tensors& in) { return rope(in[0], in[1], pairing); };
    r.naive = [pairing](const NaiveTensors& in) {
      return build(in[0].shape, [&](const Shape& at) {
        return turned([&](int64_t c) { return in[0].at(with_last(at, c)); },
                      [&](int64_t i) { return in[1].at(with_last(at, i)); }, at[at.rank() - 1],
                      in[0].shape.back(), pairing);
      });
    };
    return &rows.emplace_back(std::move(r));
  };
  OpCase* r = row("", {2, 2, 3, 6}, {3, 3}, RopePairing::interleaved);
  r->one = {{1, 1, 1, 2}, {1, 1}};
  r->zero = {{2, 2, 0, 6}, {0, 3}};
  r->big = {{3, 4, 130, 66}, {130, 33}};
  r->bad = {
      {{floats({3, 5}), floats({3, 2}).no_grad()}, kShape, "rope: x is [3, 5], angle is [3, 2]"},
      {{floats({3, 4}), floats({3, 4}).no_grad()}, kShape, "an even D, and angle (..., D / 2)"},
      {{floats({3, 4}), floats({2, 2}).no_grad()}, kShape, "broadcast to those of x"},
      {{floats({3, 4}), floats({1, 3, 2}).no_grad()}, kShape, "broadcast to those of x"},
      {{floats({3, 4}), floats({3, 2})}, ErrorKind::graph, "rope: x is [3, 4], angle [3, 2]"},
      {{integers({3, 4}, 0, 2), floats({3, 2}).no_grad()}, ErrorKind::dtype, "rope: x"}};
  r = row("half", {2, 2, 3, 6}, {3, 3}, RopePairing::half);
  r->zero = {{2, 3, 0}, {3, 0}};
  r->big = {{3, 4, 130, 66}, {1, 4, 1, 33}};
  row("wide", {5, 36}, {5, 18}, RopePairing::interleaved);
  row("angles_by_sentence", {2, 3, 2, 4}, {2, 1, 2, 2}, RopePairing::half);
  row("one_vector", {4}, {2}, RopePairing::interleaved);
}

void add_sinusoidal(std::vector<OpCase>& rows) {
  for (const int64_t offset : {0, 70}) {
    OpCase& row = rows.emplace_back(module_row(
        "SinusoidalPositions", std::make_shared<SinusoidalPositions>(5), {floats({2, 3, 5})},
        [offset](auto& l, const Tensors& in) { return l(in[0], offset); }));
    row.naive = [offset](const NaiveTensors& x) {
      return build(x[0].shape, [&](const Shape& at) {
        const double t = clock(offset + at[at.rank() - 2], at[at.rank() - 1] / 2, 5);
        return x[0].at(at) + (at[at.rank() - 1] % 2 == 0 ? std::sin(t) : std::cos(t));
      });
    };
    if (offset > 0) {
      row.label = "offset";
      continue;
    }
    const std::string op = "SinusoidalPositions: ";
    row.one = {{1, 1, 5}};
    row.zero = {{2, 0, 5}};
    row.big = {{40, 300, 5}};
    row.bad = {{{floats({2, 3, 4})}, kShape, op + "x is [2, 3, 4]; need (..., T, 5)"},
               {{floats({2, 5})},
                kValue,
                op + "t is 2, offset is -1",
                [](const Tensors& in) { return SinusoidalPositions(5)(in[0], -1); }},
               {{floats({2, 5})}, kValue, op + "dim is 4, base is 0", [](const Tensors& in) {
                  return SinusoidalPositions({4, 0})(in[0]);
                }}};
  }
}

void add_learned(std::vector<OpCase>& rows) {
  OpCase& row = rows.emplace_back(
      module_row("LearnedPositions", std::make_shared<LearnedPositions>(5, 3), {floats({2, 3, 3})},
                 [](auto& l, const Tensors& in) { return l(in[0], 1); }));
  row.naive = [](const NaiveTensors& x) {
    return build(x[0].shape, [&](const Shape& at) {
      return x[0].at(at) + x[1].at({1 + at[1], at[2]});
    });
  };
  const std::string op = "LearnedPositions: ";
  row.one = {{1, 1, 3}, {5, 3}};
  row.zero = {{2, 0, 3}, {5, 3}};
  row.big = {{4000, 4, 3}, {5, 3}};
  row.bad = {{{floats({2, 3, 4}), floats({5, 3})}, kShape, op + "x is [2, 3, 4]"},
             {{floats({2, 5, 3}), floats({5, 3})},
              ErrorKind::index,
              op + "x is [2, 5, 3], offset is 1; token 5 stands beyond max_len = 5"},
             {{floats({2, 3})}, kValue, op + "offset is -2", [](const Tensors& in) {
                return LearnedPositions(5, 3)(in[0], -2);
              }}};
}

void add_rotary(std::vector<OpCase>& rows) {
  const auto element = [](const NaiveTensor& x, const Shape& at, int64_t offset,
                          RopePairing pairing) {
    const int64_t d = x.shape.back(), position = offset + at[at.rank() - 2];
    return turned([&](int64_t c) { return x.at(with_last(at, c)); },
                  [&](int64_t i) { return clock(position, i, d); }, at[at.rank() - 1], d, pairing);
  };
  for (const RopePairing pairing : {RopePairing::interleaved, RopePairing::half}) {
    const bool half = pairing == RopePairing::half;
    OpCase& row =
        rows.emplace_back(module_row("RotaryPositions",
                                     std::make_shared<RotaryPositions>(RotaryPositionsOptions{
                                         .dim = 6, .base = 10000, .pairing = pairing}),
                                     {floats({2, 2, 3, 6})}, [half](auto& l, const Tensors& in) {
                                       return l(in[0], half ? 1000 : 0);
                                     }));
    if (half) row.label = "half_offset";
    row.naive = [=](const NaiveTensors& x) {
      return build(x[0].shape,
                   [&](const Shape& at) { return element(x[0], at, half ? 1000 : 0, pairing); });
    };
    row.one = {{1, 1, 1, 6}};
    row.zero = {{2, 2, 0, 6}};
    row.big = {{10, 4, 300, 6}};
    const std::string op = "RotaryPositions: ";
    row.bad = {{{floats({2, 3, 4})}, kShape, op + "x is [2, 3, 4]; need (..., T, 6)"},
               {{floats({2, 5})},
                kValue,
                op + "dim is 5",
                [](const Tensors& in) { return RotaryPositions({.dim = 5})(in[0]); }},
               {{floats({2, 6})}, kValue, op + "t is 2, offset is -1", [](const Tensors& in) {
                  return RotaryPositions({.dim = 6})(in[0], -1);
                }}};
  }
  // Queries of the last places against all keys.
  OpCase& scores = rows.emplace_back(
      module_row("RotaryPositions", std::make_shared<RotaryPositions>(RotaryPositionsOptions{4}),
                 {floats({2, 2, 4}), floats({2, 5, 4})}, [](auto& l, const Tensors& in) {
                   const Rotated r = l(in[0], in[1], 7);
                   return matmul(r.q, transpose(r.k, -2, -1));
                 }));
  scores.label = "scores";
  scores.naive = [=](const NaiveTensors& x) {
    const auto pairing = RopePairing::interleaved;
    return build({2, 2, 5}, [&](const Shape& at) {
      double sum = 0;
      for (int64_t c = 0; c < 4; ++c) {
        sum += element(x[0], {at[0], at[1], c}, 7 + 3, pairing) *
               element(x[1], {at[0], at[2], c}, 7, pairing);
      }
      return sum;
    });
  };
}

}  // namespace

std::vector<OpCase> rows_positions() {
  std::vector<OpCase> rows;
  rows.reserve(64);  // rows are added by reference
  add_rope(rows);
  add_sinusoidal(rows);
  add_learned(rows);
  add_rotary(rows);
  return rows;
}

}  // namespace fovea::cases
