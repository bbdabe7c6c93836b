// Rotary positions, RoPE. Su 2021, "RoFormer", eq. 15 and 34.
//
//     R_t turns pair i of a query or key at position t by the angle t / base^(2i / D)
//     (R_m q) . (R_n k) = q . (R_{n - m} k)
//
// Positions enter where they are used, in the scores, and only as distances: the values, and what
// flows from layer to layer, stay free of them. Nothing is learned and no length is the last. The
// gradient of a turned vector is turned back, by -t: lengths, and so the size of gradients, stay.
//
// Which elements form a pair is a matter of the order of rows in W_q and W_k, and must fit the
// weights: the paper and Meta's LLaMA code take neighbours (2i, 2i + 1), RopePairing::interleaved;
// GPT-NeoX and Hugging Face's LLaMA, whose checkpoints have the rows sorted anew, take (i, i + D /
// 2), RopePairing::half. With the wrong one nothing fails, and the model talks nonsense.
#pragma once

#include "fovea/nn/module.h"
#include "fovea/ops/ops.h"

namespace fovea {

struct RotaryPositionsOptions {
  int64_t dim = 0;      ///< D of one head, even
  double base = 10000;  ///< > 0; longer contexts take more (LLaMA 3: 500000)
  RopePairing pairing = RopePairing::interleaved;
};

/// Queries and keys, turned.
struct Rotated {
  Tensor q, k;
};

/// Turns x (..., T, D), such as (B, H, T, D), at positions offset ... offset + T - 1; offset is the
/// number of tokens that came before. Keep keys in a cache as they are after turning. ShapeError
/// for other widths; ValueError for an odd dim, a base that is not positive or a negative offset.
class RotaryPositions : public Module {
 public:
  explicit RotaryPositions(const RotaryPositionsOptions& o);

  Tensor forward(const Tensor& x, int64_t offset = 0) const;
  Tensor operator()(const Tensor& x, int64_t offset = 0) const { return forward(x, offset); }
  /// Both, the last query standing at the last key: k from offset on, q from offset + Tk - Tq on,
  /// which must not be negative.
  Rotated operator()(const Tensor& q, const Tensor& k, int64_t offset = 0) const;
  /// (T, D / 2), what rope() takes. Computed in float64 and brought to [-pi, pi], so that float32
  /// loses nothing far from the start.
  Tensor angles(int64_t t, int64_t offset = 0, DType dtype = f32) const;
  void visit(Visitor&) override {}

 private:
  RotaryPositionsOptions o_;
};

}  // namespace fovea
