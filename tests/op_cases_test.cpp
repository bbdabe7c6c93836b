// Every row of the case table under every check. Tests are named row/check: "gelu/gradcheck".
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <set>

#include "tests/checks/checks.h"
#include "tests/op_cases/op_case.h"

namespace fovea::cases {
namespace {

int checks_run = 0;

class PrintCount : public ::testing::Environment {
  void TearDown() override {
    if (checks_run) fmt::print("{} pairs of operation and check ran\n", checks_run);
  }
};
[[maybe_unused]] const auto* const print_count =
    ::testing::AddGlobalTestEnvironment(new PrintCount);

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
