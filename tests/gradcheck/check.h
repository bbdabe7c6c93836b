// One row of the case table under every question that the program asks.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "fovea/core/gradcheck.h"
#include "tests/op_cases/golden.h"
#include "tests/op_cases/op_case.h"

namespace fovea::gradchecks {

// What passes. Relative errors, in float64 unless said.
inline constexpr double kValueTolerance = 1e-12;       ///< result against the naive loop
inline constexpr double kFirstOrderTolerance = 1e-7;   ///< gradient against central differences
inline constexpr double kSecondOrderTolerance = 1e-6;  ///< its own gradient against them
inline constexpr double kGoldenTolerance = 1e-10;      ///< result and gradients against PyTorch
inline constexpr double kGoldenTolerance32 = 1e-5;     ///< the same in float32

/// d y[output] / d inputs[input][index]: an entry of the Jacobian.
struct JacobianEntry {
  Shape output, index;
  int64_t input = 0;
  double analytic = 0, numeric = 0, error = 0;
};

struct RowReport {
  std::string id;
  std::string inputs;  ///< their shapes: "[3, 5], [5]", and dtypes but f64
  std::optional<double> value, first, second, golden, golden32;  ///< errors of what was checked
  std::optional<JacobianEntry> worst;  ///< of the whole Jacobian, when asked for
  std::vector<std::string> complaints;
  bool ok() const { return complaints.empty(); }
};

/// Never throws for what the row does wrong: that is a complaint.
RowReport check_row(const cases::OpCase& row, const cases::Golden& golden, uint64_t seed,
                    bool find_worst);

}  // namespace fovea::gradchecks
