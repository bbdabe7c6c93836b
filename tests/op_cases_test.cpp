// Every row of the case table under every check. Tests are named row/check: "gelu/gradcheck".
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstring>
#include <set>

#include "fovea/core/engine.h"
#include "fovea/core/error.h"
#include "fovea/core/gradcheck.h"
#include "fovea/core/parallel.h"
#include "fovea/core/random.h"
#include "fovea/ops/ops.h"
#include "tests/op_cases/layouts.h"
#include "tests/op_cases/op_case.h"
#include "tests/op_cases/refused.h"

namespace fovea::cases {
namespace {

constexpr uint64_t kSeed = 20240607;
int checks_run = 0;

class PrintCount : public ::testing::Environment {
  void TearDown() override {
    if (checks_run) fmt::print("{} pairs of operation and check ran\n", checks_run);
  }
};
[[maybe_unused]] const auto* const print_count =
    ::testing::AddGlobalTestEnvironment(new PrintCount);

Tensor call(const Function& f, const Tensors& x) {
  manual_seed(7);  // random operations draw the same numbers on every call
  return f(x);
}

Tensors wanted(const Tensors& inputs) {
  Tensors w;
  for (const Tensor& x : inputs) {
    if (x.requires_grad()) w.push_back(x);
  }
  return w;
}

// Random upstream gradient for y, contiguous.
Tensor upstream_for(const Tensor& y) {
  return make_inputs({floats(y.shape()).no_grad()}, y.dtype(), kSeed + 1)[0];
}

Tensors gradients(const OpCase& row, const Tensors& inputs, const Tensor& y, const Tensor& upstream,
                  bool create_graph) {
  GradOptions o;
  o.create_graph = create_graph;
  o.retain_graph = true;
  o.allow_unused = true;
  o.upstream = upstream;
  const Tensors w = wanted(inputs);
  Tensors g = grad(y, w, o);
  for (size_t i = 0; i < g.size(); ++i) {
    if (!g[i].defined()) g[i] = Tensor::empty(w[i].shape(), w[i].dtype()), g[i].fill_(0);
    EXPECT_EQ(g[i].shape().str(), w[i].shape().str()) << row.id();
    EXPECT_EQ(g[i].dtype(), w[i].dtype()) << row.id();
  }
  return g;
}

void expect_equal(const Tensor& a, const Tensor& b, double tolerance, const std::string& what) {
  ASSERT_EQ(a.dtype(), b.dtype()) << what;
  // Sums that cancel leave what they were made of: errors count against the largest element.
  const double share = a.dtype() == f32 ? 1 : 0.1;
  const std::string complaint = compare(to_naive(a), to_naive(b), tolerance, share);
  EXPECT_EQ(complaint, "") << what;
}

void expect_equal(const Tensors& a, const Tensors& b, double tolerance, const std::string& what) {
  ASSERT_EQ(a.size(), b.size());
  // Of several, one may be 0 but for rounding: of the bias of keys, which softmax cancels.
  double largest = 0;
  for (const Tensor& g : b) {
    for (double v : to_naive(g).data)
      largest = std::fmax(largest, std::isfinite(v) ? std::fabs(v) : 0);
  }
  for (size_t i = 0; i < a.size(); ++i) {
    ASSERT_EQ(a[i].dtype(), b[i].dtype()) << what;
    const double share = a[i].dtype() == f32 ? 1 : 0.1;
    EXPECT_LE(relative_error(to_naive(a[i]), to_naive(b[i]), share, share * largest), tolerance)
        << what << ", gradient " << i;
  }
}

double epsilon(DType t) { return t == f64 ? 1e-12 : 1e-6; }

// ------------------------------------------------------------------ the checks

void check_result(const OpCase& row, const NaiveTensors& inputs, const Tensor& y) {
  if (row.naive) {
    const double tolerance = y.dtype() == f32 ? row.tolerance_f32 : 1e-12;
    EXPECT_EQ(compare(to_naive(y), row.naive(inputs), tolerance), "") << row.id();
  }
  if (row.property) {
    EXPECT_EQ(row.property(inputs, to_naive(y)), "") << row.id();
  }
}

// Each on the row's own shapes, or on those given instead.
using Shapes = std::vector<Shape>;

void check_forward(const OpCase& row, DType floating, const Shapes& shapes = {}) {
  const Tensors inputs = make_inputs(row.inputs, floating, kSeed, shapes);
  const NaiveTensors before = to_naive(inputs);
  const Tensor y = call(row.f, inputs);
  EXPECT_EQ(y.dtype(), row.result.value_or(floating));
  check_result(row, before, y);
  EXPECT_EQ(y.requires_grad(), row.differentiable && !wanted(inputs).empty());
  for (size_t i = 0; i < inputs.size(); ++i) {
    EXPECT_EQ(compare(to_naive(inputs[i]), before[i], 0), "") << "input " << i << " was changed";
  }
  const NoGrad scope;
  const Tensor quiet = call(row.f, inputs);
  EXPECT_FALSE(quiet.requires_grad() && !quiet.same_as(inputs[0])) << "recorded inside NoGrad";
  // What holds of an uninitialised tensor is not repeatable.
  if (row.name != "empty_like") expect_equal(quiet, y, 0, "inside NoGrad");
}
void check_order(const OpCase& row, int order, const Shapes& shapes = {}) {
  GradcheckOptions o;
  o.tolerance = order == 1 ? 1e-7 : 1e-6;
  const Tensors inputs = make_inputs(row.inputs, f64, kSeed, shapes);
  const auto report = order == 1 ? gradcheck(row.f, inputs, o) : gradgradcheck(row.f, inputs, o);
  EXPECT_TRUE(report.ok) << "order " << order << ": " << report.message;
}

// The rule written in ops, which runs when someone differentiates again, against the fast one.
void check_fused(const OpCase& row, DType t, const Shapes& shapes = {}) {
  const Tensors inputs = make_inputs(row.inputs, t, kSeed, shapes);
  const Tensor y = call(row.f, inputs);
  const Tensor up = upstream_for(y);
  const Tensors fast = gradients(row, inputs, y, up, false);
  for (const Tensor& g : fast) {
    EXPECT_FALSE(g.requires_grad());
    if (y.numel() == 0) {
      EXPECT_EQ(compare(to_naive(g), filled(g.shape(), 0), 0), "") << "gradient of nothing";
    }
  }
  const Tensors formula = gradients(row, inputs, y, up, true);
  expect_equal(fast, formula, epsilon(t), std::string(fovea::name(t)));
}

void forward_f64(const OpCase& row) { check_forward(row, f64); }
void forward_f32(const OpCase& row) { check_forward(row, f32); }
void first_order(const OpCase& row) { check_order(row, 1); }
void second_order(const OpCase& row) { check_order(row, 2); }
void fused(const OpCase& row) {
  for (DType t : {f64, f32}) check_fused(row, t);
}

void size_one(const OpCase& row) {
  for (DType t : {f64, f32}) {
    check_forward(row, t, row.one);
    if (row.has_gradient()) check_fused(row, t, row.one);
  }
  if (!row.has_gradient()) return;
  for (int order : {1, 2}) check_order(row, order, row.one);
}

void zero_size(const OpCase& row) {
  for (DType t : {f64, f32}) {
    check_forward(row, t, row.zero);
    if (row.differentiable) check_fused(row, t, row.zero);
  }
}

// The same numbers in both types: what float32 loses, forward and backward, is rounding.
void float32(const OpCase& row) {
  if (row.name == "empty_like") return;
  const Tensors narrow = make_inputs(row.inputs, f32, kSeed);
  Tensors wide;
  for (const Tensor& x : narrow) {
    wide.push_back(x.is_floating() ? clone(to(x.detach(), f64)) : x);
    if (x.requires_grad()) wide.back().requires_grad_();
  }
  const bool random = static_cast<bool>(row.property);  // draws differ between the types
  const Tensor y32 = call(row.f, narrow), y64 = call(row.f, wide);
  if (random || y64.dtype() != f64) return;
  EXPECT_EQ(compare(to_naive(y32), to_naive(y64), 2 * row.tolerance_f32, 1), "");
  const Tensor up = upstream_for(y32);
  const auto g32 = gradients(row, narrow, y32, up, false);
  const auto g64 = gradients(row, wide, y64, to(up, f64), false);
  // The largest of all: one of several may be 0 but for rounding. And some may be too small for
  // f32.
  double largest = 1e-30;
  for (const Tensor& g : g64) {
    if (g.numel() > 0) largest = std::max(largest, max(abs(g)).item());
  }
  for (size_t i = 0; i < g64.size(); ++i) {
    EXPECT_LE(relative_error(to_naive(g32[i]), to_naive(g64[i]), 1, largest), 5e-6)
        << "gradient " << i;
  }
}

// Each input in turn in each odd layout against the same elements in a contiguous tensor.
void layouts(const OpCase& row) {
  if (row.needs_contiguous) return;
  for (DType t : {f64, f32}) {
    const Tensors inputs = make_inputs(row.inputs, t, kSeed);
    for (size_t k = 0; k < inputs.size(); ++k) {
      for (const Layout layout : kOddLayouts) {
        const auto odd = laid_out(inputs[k].detach(), layout);
        if (!odd) continue;
        const std::string what = fmt::format("input {} {} {}", k, fovea::name(t), name(layout));
        SCOPED_TRACE(what);
        const Tensor plain = *laid_out(*odd, Layout::contiguous);
        if (inputs[k].requires_grad()) odd->requires_grad_(), plain.requires_grad_();
        Tensors a = inputs, b = inputs;
        a[k] = *odd;
        b[k] = plain;
        const Tensor ya = call(row.f, a), yb = call(row.f, b);
        if (row.naive) expect_equal(ya, yb, epsilon(t), what);
        if (row.property && layout != Layout::expanded && row.name != "empty_like") {
          expect_equal(ya, yb, epsilon(t), what);
        }
        if (!row.differentiable) continue;
        const Tensor up = upstream_for(yb);
        expect_equal(gradients(row, a, ya, up, false), gradients(row, b, yb, up, false), epsilon(t),
                     what);
        expect_equal(gradients(row, a, ya, up, true), gradients(row, b, yb, up, true), epsilon(t),
                     what + " formula");
      }
    }
  }
}

// Gradients that arrive in odd layouts: from y.sum() all strides are 0, from y.t() they are turned.
void upstream(const OpCase& row) {
  for (DType t : {f64, f32}) {
    const Tensors inputs = make_inputs(row.inputs, t, kSeed);
    const Tensor y = call(row.f, inputs);
    const auto check = [&](const Tensor& odd, const std::string& what) {
      const Tensor plain = *laid_out(odd, Layout::contiguous);
      for (bool create : {false, true}) {
        expect_equal(gradients(row, inputs, y, odd, create),
                     gradients(row, inputs, y, plain, create), epsilon(t), what);
      }
    };
    const Tensor up = upstream_for(y);
    for (const Layout layout : kOddLayouts) {
      const auto odd = laid_out(up, layout);
      if (odd) check(*odd, name(layout));
    }
    if (y.numel() > 0) check(up.alias(y.shape(), Shape::filled(y.dim(), 0)), "sum");
  }
}

bool same_bits(const Tensor& a, const Tensor& b) {
  const Tensor x = a.contiguous(), y = b.contiguous();
  return a.dtype() == b.dtype() && a.shape() == b.shape() &&
         std::memcmp(x.raw(), y.raw(), static_cast<size_t>(x.numel() * item_size(x.dtype()))) == 0;
}

class RestoreThreads {
 public:
  RestoreThreads() : before_(threads()) {}
  ~RestoreThreads() { set_threads(before_); }
  RestoreThreads(const RestoreThreads&) = delete;
  RestoreThreads& operator=(const RestoreThreads&) = delete;

 private:
  int before_;
};

void thread_counts(const OpCase& row) {
  if (row.name == "empty_like") return;  // whatever the memory held
  const RestoreThreads restore;
  for (DType t : {f32, f64}) {
    const Tensors inputs = make_inputs(row.inputs, t, kSeed, row.big);
    Tensors first;
    for (int n : {1, 2, 8}) {
      set_threads(n);
      const Tensor y = call(row.f, inputs);
      Tensors all;
      if (row.differentiable) all = gradients(row, inputs, y, upstream_for(y), false);
      all.push_back(y.detach());
      if (n == 1) first = all;
      for (size_t i = 0; i < all.size(); ++i) {
        EXPECT_TRUE(same_bits(all[i], first[i]))
            << fovea::name(t) << " on " << n
            << " threads: " << (i + 1 == all.size() ? "result" : fmt::format("gradient {}", i));
      }
    }
    if (row.differentiable && !row.big.empty()) {  // the chunks of a fused rule, by its formula
      const Tensor y = call(row.f, inputs);
      Tensors formula = gradients(row, inputs, y, upstream_for(y), true);
      formula.push_back(first.back());
      expect_equal(first, formula, t == f32 ? 5 * row.tolerance_f32 : 1e-11, "formula");
    }
    if (first.back().numel() > 0 && row.naive && !row.big.empty()) {
      EXPECT_EQ(compare(to_naive(first.back()), row.naive(to_naive(inputs)),
                        first.back().dtype() == f32 ? 5 * row.tolerance_f32 : 1e-11),
                "")
          << "big";
    }
  }
}

// Shape errors name the sizes of the first operand at least, beside what the row says. A layer says
// who refuses: itself, or the operation that it leaves that to (Linear to linear).
void bad_inputs(const OpCase& row) {
  const bool layer = std::isupper(static_cast<unsigned char>(row.name[0]));
  for (size_t i = 0; i < row.bad.size(); ++i) {
    const BadCase& bad = row.bad[i];
    const std::string op = layer ? bad.message.substr(0, bad.message.find(':')) : row.name;
    const Tensors inputs = make_inputs(bad.inputs, f32, kSeed);
    std::vector<std::string> parts{bad.message};
    if (bad.error == ErrorKind::shape && !inputs.empty()) parts.push_back(inputs[0].shape().str());
    const Function& f = bad.f ? bad.f : row.f;
    EXPECT_EQ(refused(op, bad.error, parts, [&] { (void)call(f, inputs); }), "")
        << "bad case " << i;
  }
}

// ------------------------------------------------------------------ rows x checks

struct Check {
  const char* name;
  void (*run)(const OpCase&);
  bool (*applies)(const OpCase&);
};

bool always(const OpCase&) { return true; }
bool has_inputs(const OpCase& r) { return !r.inputs.empty(); }
bool has_gradient(const OpCase& r) { return r.has_gradient(); }

constexpr Check kChecks[] = {
    {"forward_f64", forward_f64, always},
    {"forward_f32", forward_f32, always},
    {"gradcheck", first_order, has_gradient},
    {"gradgradcheck", second_order, has_gradient},
    {"float32", float32, has_gradient},
    {"fused", fused, has_gradient},
    {"layouts", layouts, has_inputs},
    {"upstream", upstream, has_gradient},
    {"size_one", size_one, [](const OpCase& r) { return !r.one.empty(); }},
    {"zero_size", zero_size, [](const OpCase& r) { return !r.zero.empty(); }},
    {"threads", thread_counts, always},
    {"bad_inputs", bad_inputs, [](const OpCase& r) { return !r.bad.empty(); }},
};

class OpCaseTest : public ::testing::Test {
 public:
  OpCaseTest(const OpCase& row, const Check& check) : row_(row), check_(check) {}
  void TestBody() override {
    ++checks_run;
    check_.run(row_);
  }

 private:
  const OpCase& row_;
  const Check& check_;
};

[[maybe_unused]] const bool registered = [] {
  for (const OpCase& row : table()) {
    for (const Check& check : kChecks) {
      if (!check.applies(row)) continue;
      ::testing::RegisterTest(
          "op_cases", (row.id() + "/" + check.name).c_str(), nullptr, nullptr, __FILE__, __LINE__,
          [&row, &check]() -> ::testing::Test* { return new OpCaseTest(row, check); });
    }
  }
  return true;
}();

TEST(OpCaseTable, IdsAreUnique) {
  std::set<std::string> seen;
  for (const OpCase& row : table()) {
    EXPECT_TRUE(seen.insert(row.id()).second) << row.id();
  }
}

}  // namespace
}  // namespace fovea::cases
