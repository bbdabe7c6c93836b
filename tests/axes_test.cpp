// Axes count from either end: axis a and axis a - rank are one and the same for every operation
// that takes an axis, in its result and in its gradient, and what is outside is refused by name.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <set>

#include "fovea/core/engine.h"
#include "fovea/core/random.h"
#include "fovea/ops/ops.h"
#include "tests/op_cases/refused.h"
#include "tests/signatures.h"

namespace fovea {
namespace {

using cases::ErrorKind;
using X = const Tensor&;

struct AxisCase {
  const char* op;
  const char* parameter;
  std::function<Tensor(const Tensor& x, int64_t axis)> f;
  int more = 0;  ///< how many axes the result has more than x, where the axis counts among those
};

// All results as one tensor.
Tensor joined(const Tensors& parts) {
  Tensors flat;
  for (const Tensor& p : parts) flat.push_back(flatten(p));
  return cat(flat);
}
Tensor joined(const ValuesAndIndices& r) { return joined(Tensors{r.values, to(r.indices, f64)}); }

// Zeros of x's shape, with the axis cut to one place: a legal index whichever end the axis is
// counted from. An axis out of range gives any shape: the operation refuses it.
Tensor index_for(X x, int64_t axis) {
  Shape shape = x.shape();
  const int64_t d = axis < 0 ? axis + x.dim() : axis;
  if (d >= 0 && d < x.dim()) shape[static_cast<int>(d)] = 1;
  return ones(shape, i64);
}
Tensor first_places() { return tensor({1, 0, 1}); }

// The axis in front of the others, spelt as it was given.
Axes in_front(X x, int64_t axis) {
  Axes order = axis;
  for (int64_t d = 0; d < x.dim(); ++d) {
    if (d != axis && d != axis + x.dim()) order.list.push_back(d);
  }
  while (order.list.rank() > x.dim()) order.list.erase(x.dim());
  return order;
}

const std::vector<AxisCase> kCases{
    {"sum", "axes", [](X x, int64_t a) { return sum(x, a); }},
    {"mean", "axes", [](X x, int64_t a) { return mean(x, a); }},
    {"var", "axes", [](X x, int64_t a) { return var(x, a); }},
    {"std", "axes", [](X x, int64_t a) { return std(x, a); }},
    {"amax", "axes", [](X x, int64_t a) { return amax(x, a); }},
    {"amin", "axes", [](X x, int64_t a) { return amin(x, a); }},
    {"logsumexp", "axes", [](X x, int64_t a) { return logsumexp(x, a); }},
    {"prod", "axes", [](X x, int64_t a) { return prod(x, a); }},
    {"norm", "axes", [](X x, int64_t a) { return norm(x, 2, a); }},
    {"flip", "axes", [](X x, int64_t a) { return flip(x, a); }},
    {"max", "axis", [](X x, int64_t a) { return joined(max(x, a)); }},
    {"min", "axis", [](X x, int64_t a) { return joined(min(x, a)); }},
    {"argmax", "axis", [](X x, int64_t a) { return argmax(x, a); }},
    {"argmin", "axis", [](X x, int64_t a) { return argmin(x, a); }},
    {"cumsum", "axis", [](X x, int64_t a) { return cumsum(x, a); }},
    {"cumprod", "axis", [](X x, int64_t a) { return cumprod(x, a); }},
    {"logcumsumexp", "axis", [](X x, int64_t a) { return logcumsumexp(x, a); }},
    {"sort", "axis", [](X x, int64_t a) { return joined(sort(x, a)); }},
    {"argsort", "axis", [](X x, int64_t a) { return argsort(x, a); }},
    {"topk", "axis", [](X x, int64_t a) { return joined(topk(x, 1, a)); }},
    {"kthvalue", "axis", [](X x, int64_t a) { return joined(kthvalue(x, 2, a)); }},
    {"flatten", "start", [](X x, int64_t a) { return flatten(x, a, 2); }},
    {"flatten", "end", [](X x, int64_t a) { return flatten(x, 0, a); }},
    {"transpose", "a", [](X x, int64_t a) { return transpose(x, a, 1); }},
    {"transpose", "b", [](X x, int64_t a) { return transpose(x, 1, a); }},
    {"permute", "order", [](X x, int64_t a) { return permute(x, in_front(x, a)); }},
    {"squeeze", "axis", [](X x, int64_t a) { return squeeze(slice(x, 2, 0, 1), a); }},
    {"unsqueeze", "axis", [](X x, int64_t a) { return unsqueeze(x, a); }, 1},
    {"select", "axis", [](X x, int64_t a) { return select(x, a, 1); }},
    {"slice", "axis", [](X x, int64_t a) { return slice(x, a, 1); }},
    {"narrow", "axis", [](X x, int64_t a) { return narrow(x, a, 1, 1); }},
    {"split", "axis", [](X x, int64_t a) { return joined(split(x, 2, a)); }},
    {"split", "axis",
     [](X x, int64_t a) {
       const int64_t n = x.shape()[static_cast<int>((a + 2 * x.dim()) % x.dim())];
       return joined(split(x, std::vector<int64_t>{1, n - 1}, a));
     }},
    {"chunk", "axis", [](X x, int64_t a) { return joined(chunk(x, 2, a)); }},
    {"unbind", "axis", [](X x, int64_t a) { return joined(unbind(x, a)); }},
    {"cat", "axis",
     [](X x, int64_t a) {
       return cat({x, x * 2}, a);
     }},
    {"stack", "axis",
     [](X x, int64_t a) {
       return stack({x, x * 2}, a);
     },
     1},
    {"roll", "axis", [](X x, int64_t a) { return roll(x, 1, a); }},
    {"unfold", "axis", [](X x, int64_t a) { return unfold(x, a, 2, 1); }},
    {"repeat_interleave", "axis", [](X x, int64_t a) { return repeat_interleave(x, 2, a); }},
    {"gather", "axis", [](X x, int64_t a) { return gather(x, a, index_for(x, a)); }},
    {"scatter", "axis", [](X x, int64_t a) { return scatter(x, a, index_for(x, a), square(x)); }},
    {"scatter_add", "axis",
     [](X x, int64_t a) { return scatter_add(x, a, index_for(x, a), square(x)); }},
    {"index_select", "axis", [](X x, int64_t a) { return index_select(x, a, first_places()); }},
    {"softmax", "axis", [](X x, int64_t a) { return softmax(x, a); }},
    {"log_softmax", "axis", [](X x, int64_t a) { return log_softmax(x, a); }},
    {"sparsemax", "axis", [](X x, int64_t a) { return sparsemax(x, a); }},
    {"entmax15", "axis", [](X x, int64_t a) { return entmax15(x, a); }},
    {"gumbel_softmax", "axis", [](X x, int64_t a) { return gumbel_softmax(x, 1, true, a); }},
};

Tensor input() {
  Generator g(11);
  return randn({2, 3, 4}, f64, &g).requires_grad_();
}

std::string named(const AxisCase& c) { return fmt::format("{}({})", c.op, c.parameter); }

// The result, and its gradient where it has one, on the same random numbers each time.
Tensors run(const AxisCase& c, const Tensor& x, int64_t axis) {
  manual_seed(7);
  const Tensor y = c.f(x, axis);
  if (!y.requires_grad()) return {y};
  Generator g(13);
  GradOptions o;
  o.upstream = randn(y.shape(), y.dtype(), &g);
  return {y.detach(), grad(y, {x}, o)[0]};
}

TEST(Axes, CountFromEitherEnd) {
  const Tensor x = input();
  for (const AxisCase& c : kCases) {
    const int64_t rank = x.dim() + c.more;
    for (int64_t a = 0; a < rank; ++a) {
      const Tensors front = run(c, x, a), back = run(c, x, a - rank);
      ASSERT_EQ(front.size(), back.size()) << named(c) << " axis " << a;
      for (size_t i = 0; i < front.size(); ++i) {
        EXPECT_TRUE(equal(front[i], back[i]))
            << named(c) << ": axes " << a << " and " << a - rank << " differ in the "
            << (i == 0 ? "result" : "gradient");
      }
    }
  }
}

TEST(Axes, OutOfRangeIsRefusedByName) {
  const Tensor x = input();
  for (const AxisCase& c : kCases) {
    const int64_t rank = x.dim() + c.more;
    for (int64_t a : {rank, -rank - 1}) {
      EXPECT_EQ(cases::refused(c.op, ErrorKind::index,
                               {fmt::format("axis {} ", a), fmt::format("rank {}", rank),
                                fmt::format("use {} to {}", -rank, rank - 1)},
                               [&] { (void)c.f(x, a); }),
                "")
          << named(c);
    }
  }
}

TEST(Axes, OfAPointAreZeroAndMinusOne) {
  for (int64_t a : {1, -2}) {
    EXPECT_EQ(cases::refused("sum", ErrorKind::index, {fmt::format("axis {} ", a), "use -1 to 0"},
                             [&] { (void)sum(ones({}), a); }),
              "");
  }
}

// Of several axes each may be counted from its own end, and no two may be one.
TEST(Axes, SeveralMixAndAreDistinct) {
  using Several = std::function<Tensor(X, const Axes&)>;
  const std::vector<std::pair<const char*, Several>> cases{
      {"sum", [](X x, const Axes& a) { return sum(x, a); }},
      {"mean", [](X x, const Axes& a) { return mean(x, a); }},
      {"var", [](X x, const Axes& a) { return var(x, a); }},
      {"std", [](X x, const Axes& a) { return std(x, a); }},
      {"amax", [](X x, const Axes& a) { return amax(x, a); }},
      {"amin", [](X x, const Axes& a) { return amin(x, a); }},
      {"logsumexp", [](X x, const Axes& a) { return logsumexp(x, a); }},
      {"prod", [](X x, const Axes& a) { return prod(x, a); }},
      {"norm", [](X x, const Axes& a) { return norm(x, 2, a); }},
      {"flip", [](X x, const Axes& a) { return flip(x, a); }}};
  const Tensor x = input();
  for (const auto& [op, f] : cases) {
    EXPECT_TRUE(equal(f(x, {0, -1}), f(x, {2, 0}))) << op;
    const auto& g = f;  // clang 14 does not capture structured bindings
    EXPECT_EQ(cases::refused(op, ErrorKind::index, {"axis 1 is given twice", "[1, -2]"},
                             [&] {
                               (void)g(x, {1, -2});
                             }),
              "");
  }
  EXPECT_EQ(cases::refused("permute", ErrorKind::index, {"axis 2 is given twice", "[0, 2, -1]"},
                           [&] {
                             (void)permute(x, {0, 2, -1});
                           }),
            "");
}

// Every parameter of ops/ops.h that is an axis is tested above.
TEST(Axes, AllOperationsAreHere) {
  std::set<std::string> declared, tested;
  for (const Signature& s : declared_operations()) {
    for (const Parameter& p : s.parameters) {
      const bool whole = p.type.find("int64_t") == 0;
      const bool axis = p.type.find("Axes") != std::string::npos || (whole && p.name == "axis") ||
                        (whole && s.name == "transpose") || (whole && s.name == "flatten");
      if (axis) declared.insert(s.name + " " + p.name);
    }
  }
  for (const AxisCase& c : kCases) tested.insert(fmt::format("{} {}", c.op, c.parameter));
  ASSERT_GT(declared.size(), 40u) << "the header was not understood";
  EXPECT_EQ(declared, tested);
}

}  // namespace
}  // namespace fovea
