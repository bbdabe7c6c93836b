// Multi-head attention. Vaswani 2017, section 3.2.2.
//
//     head_h = attention(q W_q^h, k W_k^h, v W_v^h),   y = [head_1; ...; head_H] W_o
//
// Each head looks at the sequence through projections of its own, D = d_model / H wide. How the
// gradient flows: from y through W_o into the heads, in each through the weights as
// ops/attention.cpp says, and from q, k and v of all heads into the three projections.
#pragma once

#include <optional>

#include "fovea/nn/attention/kv_cache.h"
#include "fovea/nn/linear.h"
#include "fovea/nn/position/rotary.h"
#include "fovea/ops/ops.h"

namespace fovea {

struct MultiHeadAttentionOptions {
  int64_t d_model = 0;  ///< width of queries and of the result, a multiple of heads
  int64_t heads = 1;
  double dropout = 0;  ///< of the weights, while training
  bool bias = true;    ///< in all four projections
  int64_t kdim = 0;    ///< width of keys; 0: d_model
  int64_t vdim = 0;    ///< width of values; 0: d_model
  /// Heads of keys and values; 0: heads. Fewer, a divisor of heads: grouped-query attention
  /// (Ainslie 2023); 1: multi-query attention (Shazeer 2019).
  int64_t kv_heads = 0;
  /// Turns queries and keys by their positions; its dim is the width of a head, and need not be
  /// set.
  std::optional<RotaryPositionsOptions> rotary = {};
  DType dtype = f32;
};

struct AttendOptions {
  Tensor keep_mask = {};  ///< bool, true = attend: see keep_mask_of_rank_4 in mask.h
  Tensor bias = {};       ///< of the scores: broadcasts to (B, H, Tq, Tk)
  Causal causal = Causal::none;
  std::optional<int64_t> window = {};  ///< see AttentionOptions
  /// Keys and values are appended to it, and queries see all that it holds. Under NoGrad only.
  LayerCache* cache = nullptr;
};

/// What the operation takes of `o`, for scores (B, H, Tq, Tk). ShapeError, DTypeError or ValueError
/// in the name of `op`: before anything is appended to a cache, so that a refused call changes
/// nothing.
AttentionOptions attention_options(const char* op, const AttendOptions& o, const Shape& scores);

/// The result and what was attended to.
struct Attended {
  Tensor output;   ///< (B, Tq, d_model)
  Tensor weights;  ///< (B, H, Tq, Tk), before dropout, one map a head
};

/// q (B, Tq, d_model), k (B, Tk, kdim), v (B, Tk, vdim) -> (B, Tq, d_model). Parameters "w_q",
/// "w_k", "w_v", "w_o", each a Linear. Weights start as torch.nn.MultiheadAttention's: uniform
/// Xavier, with w_q, w_k and w_v taken as one matrix when the widths agree; biases start at 0.
/// ValueError when d_model is no multiple of heads or heads none of kv_heads; ShapeError for other
/// shapes.
class MultiHeadAttention : public Module {
 public:
  Linear w_q, w_k, w_v, w_o;

  explicit MultiHeadAttention(const MultiHeadAttentionOptions& o);

  Tensor forward(const Tensor& q, const Tensor& k, const Tensor& v,
                 const AttendOptions& o = {}) const;
  Tensor operator()(const Tensor& q, const Tensor& k, const Tensor& v,
                    const AttendOptions& o = {}) const {
    return forward(q, k, v, o);
  }
  /// Self-attention.
  Tensor operator()(const Tensor& x, const AttendOptions& o = {}) const {
    return forward(x, x, x, o);
  }
  /// The same with the weights, which cost (B, H, Tq, Tk) numbers.
  Attended attend(const Tensor& q, const Tensor& k, const Tensor& v,
                  const AttendOptions& o = {}) const;

  /// Keys and values of a source that many queries will look at, one after the other: projected
  /// once. ValueError of a layer with rotary positions, whose keys depend on where they stand.
  KeysAndValues project(const Tensor& k, const Tensor& v) const;
  /// forward() with keys and values from project(); o.cache has no part in it. ShapeError when they
  /// do not fit, ValueError of a layer with rotary positions.
  Tensor attend_to(const Tensor& q, const KeysAndValues& source, const AttendOptions& o = {}) const;

  const MultiHeadAttentionOptions& options() const { return o_; }
  void visit(Visitor& v) override;

 private:
  struct Heads {
    Tensor q, k, v;  // (B, H, T, D)
    AttentionOptions o;
  };
  AttentionOptions options_of(const AttendOptions& o, const Tensor& q, int64_t tk) const;
  Heads split(const Tensor& q, const Tensor& k, const Tensor& v, const AttendOptions& o) const;
  Tensor merge(const Tensor& heads) const;

  MultiHeadAttentionOptions o_;
  std::optional<RotaryPositions> rotary_;
};

}  // namespace fovea
