// Calls that must be refused, and what the refusal must say: what the `bad` lists of the case table
// do not hold, since these need no input tensors or several forms of one operation.
#pragma once

#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "fovea/ops/ops.h"
#include "tests/op_cases/op_case.h"

namespace fovea::messages {

struct Refusal {
  const char* op;  ///< the name the message begins with: that which was called
  cases::ErrorKind kind;
  std::vector<std::string> parts;  ///< what it must hold
  std::function<void()> call;
};

using cases::kDType, cases::kIndex, cases::kShape, cases::kValue;
inline constexpr auto kGraph = cases::ErrorKind::graph;
inline constexpr double kNaN = NAN, kInf = INFINITY;
inline constexpr int64_t kHuge = int64_t{1} << 40;  ///< squared, more elements than fit in 64 bits
inline constexpr int64_t kMax = INT64_MAX, kMin = INT64_MIN;

inline Tensor floats(const Shape& shape) { return ones(shape); }
inline Tensor doubles(const Shape& shape) { return ones(shape, f64); }
inline Tensor integers(const Shape& shape) { return ones(shape, i64); }
inline Tensor bools(const Shape& shape) { return ones(shape, boolean); }
/// As many axes as there can be.
inline Tensor deep() { return ones(Shape::filled(kMaxRank, 1)); }

std::vector<Refusal> of_creation();
std::vector<Refusal> of_elements();
std::vector<Refusal> of_shapes();
std::vector<Refusal> of_indexing();
std::vector<Refusal> of_layers();
std::vector<Refusal> of_images();
std::vector<Refusal> of_methods();

}  // namespace fovea::messages
