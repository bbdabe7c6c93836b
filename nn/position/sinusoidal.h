// Sinusoidal positions. Vaswani 2017, section 3.5.
//
//     P[t, 2i] = sin(t / base^(2i / D)),   P[t, 2i + 1] = cos(t / base^(2i / D)),   y = x + P
//
// Attention sees a set: without positions, shuffled tokens give shuffled results. Here each
// position is a row of clocks, from one turn in 2 pi tokens to one in 2 pi base. Moving by k tokens
// turns every clock by an angle that depends on k alone, so that P[t + k] is a linear map of P[t],
// the same for every t: a layer can learn to look k tokens back. Nothing is learned: the gradient
// passes to x as it comes.
#pragma once

#include "fovea/nn/module.h"

namespace fovea {

struct SinusoidalPositionsOptions {
  int64_t dim = 0;      ///< D; an odd width ends with a sine
  double base = 10000;  ///< > 0
};

/// x (..., T, D) -> x plus the rows of positions offset ... offset + T - 1: offset is the number of
/// tokens that came before, for decoding behind a cache. ShapeError for other widths; ValueError
/// for a negative dim or offset or a base that is not positive.
class SinusoidalPositions : public Module {
 public:
  explicit SinusoidalPositions(const SinusoidalPositionsOptions& o);
  explicit SinusoidalPositions(int64_t dim)
      : SinusoidalPositions(SinusoidalPositionsOptions{.dim = dim}) {}

  Tensor forward(const Tensor& x, int64_t offset = 0) const;
  Tensor operator()(const Tensor& x, int64_t offset = 0) const { return forward(x, offset); }
  /// The rows themselves, (T, D). Computed in float64, whatever the dtype.
  Tensor table(int64_t t, int64_t offset = 0, DType dtype = f32) const;
  void visit(Visitor&) override {}

 private:
  SinusoidalPositionsOptions o_;
};

}  // namespace fovea
