// What lies beyond the end of a sequence changes nothing: no output, no state, no gradient.
#include <limits>

#include "tests/nn/recurrent/runs.h"

namespace fovea {
namespace {

using testing::everything;
using testing::expect_close;
using testing::expect_same_bits;
using testing::kKinds;
using testing::made;
using testing::Upstream;
using testing::within;

constexpr int64_t kBatch = 4, kTime = 6, kIn = 3, kHidden = 5;

struct Case {
  std::string kind;
  bool deep;
  DType dtype;
};
void PrintTo(const Case& c, std::ostream* out) { *out << c.kind << (c.deep ? " deep" : ""); }

class RecurrentPadding : public ::testing::TestWithParam<Case> {
 public:
  std::unique_ptr<Recurrent> m = made(GetParam().kind, {.in = kIn,
                                                        .hidden = kHidden,
                                                        .layers = GetParam().deep ? 2 : 1,
                                                        .bidirectional = GetParam().deep,
                                                        .dtype = GetParam().dtype});
  int64_t states = GetParam().deep ? 4 : 1, width = GetParam().deep ? 2 * kHidden : kHidden;
  Tensor lengths = tensor({4, 0, 6, 1}, i64);
  Tensor x = numbers({kBatch, kTime, kIn});
  RecurrentState initial = {numbers({states, kBatch, kHidden}),
                            m->has_cell() ? numbers({states, kBatch, kHidden}) : Tensor()};
  Upstream up = {numbers({kBatch, kTime, width}), numbers({states, kBatch, kHidden}),
                 numbers({states, kBatch, kHidden})};

  static Tensor numbers(const Shape& shape) { return randn(shape, GetParam().dtype); }
};

TEST_P(RecurrentPadding, WhatItHoldsDoesNotMatter) {
  const Tensor inside = within(lengths, kTime);
  const Tensor clean = where(inside, x, zeros({}, x.dtype()));
  const Tensors want = everything(*m, clean, initial, lengths, up);
  for (const double garbage :
       {1e30, std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()}) {
    const Tensor dirty = where(inside, x, full({}, garbage, x.dtype()));
    expect_same_bits(everything(*m, dirty, initial, lengths, up), want, std::to_string(garbage));
  }
  for (const Tensor& t : want) EXPECT_TRUE(all(isfinite(t)));
  const Tensor outside = logical_not(inside).to(x.dtype());
  EXPECT_EQ(max(abs(want[0] * outside)).item(), 0) << "output";
  EXPECT_EQ(max(abs(want[m->has_cell() ? 3 : 2] * outside)).item(), 0) << "gradient of x";
  // The sequence without a step keeps its state, which hands its gradient on.
  EXPECT_TRUE(equal(select(want[1], 1, 1), select(initial.h, 1, 1)));
  EXPECT_TRUE(equal(select(want[m->has_cell() ? 4 : 3], 1, 1), select(up.h, 1, 1)));
}

TEST_P(RecurrentPadding, MoreOfItDoesNotMatter) {
  const Tensors want = everything(*m, x, initial, lengths, up);
  constexpr int64_t more = 3;
  const Tensor nan = full({kBatch, more, kIn}, std::nan(""), x.dtype());
  const Upstream longer{cat({up.y, numbers({kBatch, more, width})}, 1), up.h, up.c};
  Tensors got = everything(*m, cat({x, nan}, 1), initial, lengths, longer);
  for (const size_t i : {size_t{0}, size_t{m->has_cell() ? 3u : 2u}}) {  // output, gradient of x
    EXPECT_EQ(max(abs(narrow(got[i], 1, kTime, more))).item(), 0);
    got[i] = narrow(got[i], 1, 0, kTime);
  }
  expect_same_bits(got, want, "longer");
}

TEST_P(RecurrentPadding, ABatchEqualsItsSequencesAlone) {
  const double tolerance = GetParam().dtype == f64 ? 1e-12 : 1e-6;
  const Tensors want = everything(*m, x, initial, lengths, up);
  Tensors sums;
  for (int64_t b = 0; b < kBatch; ++b) {
    const int64_t n = lengths.to_vector<int64_t>()[static_cast<size_t>(b)];
    const auto of = [b](const Tensor& t, int64_t axis) {
      return t.defined() ? narrow(t, axis, b, 1) : t;
    };
    const Tensors got =
        everything(*m, narrow(of(x, 0), 1, 0, n), {of(initial.h, 1), of(initial.c, 1)}, {},
                   {narrow(of(up.y, 0), 1, 0, n), of(up.h, 1), of(up.c, 1)});
    const size_t parameters = got.size() - m->parameters().size();
    const size_t gradient = m->has_cell() ? 3 : 2;
    for (size_t i = 0; i < parameters; ++i) {
      const std::string what = "sequence " + std::to_string(b) + ", " + std::to_string(i);
      const bool of_steps = i == 0 || i == gradient;
      expect_close(got[i], of_steps ? narrow(of(want[i], 0), 1, 0, n) : of(want[i], 1), tolerance,
                   what);
    }
    if (sums.empty()) sums = Tensors(got.size() - parameters, zeros({}, x.dtype()));
    for (size_t i = 0; i < sums.size(); ++i) {
      sums[i] = sums[i] + got[parameters + i];
    }
  }
  for (size_t i = 0; i < sums.size(); ++i) {
    expect_close(sums[i], want[want.size() - sums.size() + i], tolerance,
                 "gradient of parameter " + std::to_string(i));
  }
}

std::vector<Case> cases() {
  std::vector<Case> all;
  for (const char* kind : kKinds) {
    for (const bool deep : {false, true}) {
      for (const DType t : {f64, f32}) all.push_back({kind, deep, t});
    }
  }
  return all;
}
INSTANTIATE_TEST_SUITE_P(Recurrent, RecurrentPadding, ::testing::ValuesIn(cases()),
                         [](const auto& info) {
                           const Case& c = info.param;
                           return c.kind + (c.deep ? "_deep_" : "_") + std::string(name(c.dtype));
                         });

}  // namespace
}  // namespace fovea
