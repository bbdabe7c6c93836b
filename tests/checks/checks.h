// The checks that every row of the case table passes, and what they share. A check fails through
// Google Test's expectations.
#pragma once

#include <cstdint>
#include <string>

#include "fovea/core/tensor.h"
#include "tests/op_cases/op_case.h"

namespace fovea::cases {

// ------------------------------------------------------------------ checks, by file
// values.cpp
void forward_f64(const OpCase& row);
void forward_f32(const OpCase& row);
void first_order(const OpCase& row);
void second_order(const OpCase& row);
void fused(const OpCase& row);
void size_one(const OpCase& row);
void zero_size(const OpCase& row);
void float32(const OpCase& row);
// layouts.cpp
void layouts(const OpCase& row);
void upstream(const OpCase& row);
// threads.cpp
void thread_counts(const OpCase& row);
// refusals.cpp
void bad_inputs(const OpCase& row);

// ------------------------------------------------------------------ what they share
inline constexpr uint64_t kSeed = 20240607;

/// f(x), with the same random numbers on every call.
Tensor call(const Function& f, const Tensors& x);
/// Those that require a gradient.
Tensors wanted(const Tensors& inputs);
/// A random upstream gradient for y, contiguous.
Tensor upstream_for(const Tensor& y);
/// The gradients of the wanted inputs; zeros where y does not depend on one. Keeps the graph.
Tensors gradients(const OpCase& row, const Tensors& inputs, const Tensor& y, const Tensor& upstream,
                  bool create_graph);
void expect_equal(const Tensor& a, const Tensor& b, double tolerance, const std::string& what);
void expect_equal(const Tensors& a, const Tensors& b, double tolerance, const std::string& what);
/// The tolerance that two ways to compute one thing have.
inline double epsilon(DType t) { return t == f64 ? 1e-12 : 1e-6; }
bool same_bits(const Tensor& a, const Tensor& b);

}  // namespace fovea::cases
