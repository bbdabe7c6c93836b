// Random shapes, layouts and values for property tests, drawn by RapidCheck.
#pragma once

#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "fovea/core/tensor.h"
#include "tests/op_cases/layouts.h"
#include "tests/op_cases/op_case.h"

namespace fovea::properties {

using cases::NaiveTensor;

/// Uniform, from the first case on: RapidCheck would start small, and small here means empty.
inline int64_t draw(int64_t low, int64_t high) {
  return *rc::gen::resize(rc::kNominalSize, rc::gen::inRange<int64_t>(low, high + 1));
}

/// Rank 0 to 4, sizes 1 to 4, and now and then 0.
inline Shape any_shape(int64_t min_rank = 0, int64_t max_rank = 4) {
  Shape s;
  const int64_t rank = draw(min_rank, max_rank);
  for (int64_t d = 0; d < rank; ++d) s.push_back(draw(0, 15) == 0 ? 0 : draw(1, 4));
  return s;
}

/// A shape that broadcasts against s: some sizes 1, some leading axes missing.
inline Shape broadcastable(const Shape& s) {
  Shape out = s;
  for (int d = 0; d < out.rank(); ++d) {
    if (draw(0, 2) == 0) out[d] = 1;
  }
  for (int64_t drop = draw(0, out.rank()); drop > 0 && draw(0, 1) == 0; --drop) out.erase(0);
  return out;
}

/// f64 values in [-2, 2) in any layout, wanting a gradient.
inline Tensor any_tensor(const Shape& shape) {
  const auto seed = static_cast<uint64_t>(draw(0, 1 << 30));
  const Tensor plain = cases::make_inputs({cases::floats(shape).no_grad()}, f64, seed)[0];
  const auto layout = static_cast<cases::Layout>(draw(0, 7));
  return cases::laid_out(plain, layout).value_or(plain).requires_grad_();
}

/// Random upstream numbers for a result of this shape.
inline Tensor weights(const Shape& shape) { return any_tensor(shape).detach(); }

inline void require_equal(const Tensor& got, const NaiveTensor& want, const char* what) {
  const std::string complaint = cases::compare(cases::to_naive(got), want, 1e-10);
  if (!complaint.empty()) RC_FAIL(std::string(what) + ": " + complaint);
}

/// Sums g over the axes along which `shape` was broadcast.
inline NaiveTensor summed_to(const NaiveTensor& g, const Shape& shape) {
  NaiveTensor out = cases::filled(shape, 0);
  cases::each_index(g.shape, [&](const Shape& i) { out.at(i) += g.at(i); });
  return out;
}

}  // namespace fovea::properties
