// Attention as decoders use it: one query after another at the same source.
#pragma once

#include <memory>
#include <string_view>

#include "fovea/nn/attention/score.h"

namespace fovea {

/// What was read, and how the reading was spread. A layer of one query has no axis Tq.
struct SoftAttended {
  Tensor context;  ///< (B, Tq, Dv)
  Tensor weights;  ///< (B, Tq, Tk)
};

/// A sentence that is looked at again and again, made ready once: see SourceAttention.
struct AttentionSource {
  Tensor keys;       ///< (B, Tk, .), as the score's project() left them
  Tensor values;     ///< (B, Tk, Dv), 0 where there is no word; may be the very tensor of the keys
  Tensor keep_mask;  ///< bool (B, Tk), true = a word; undefined: all are

  /// Sentence i becomes what sentence rows[i] was, i64 (n). IndexError for a row that there is not.
  void select(const Tensor& rows);
};

/// Attention as a decoder uses it, one query after another at one source. What the score makes of
/// the keys is computed by prepare(), not at every step.
class SourceAttention : public Module {
 public:
  /// keys (B, Tk, Dk), values (B, Tk, Dv), keep_mask (B, Tk) bool, true = a word. Padding cannot
  /// reach a result, NaN included. ShapeError for other shapes, also of keys that the score does
  /// not take; DTypeError for a mask that is not bool and for keys that are not floating.
  AttentionSource prepare(const Tensor& keys, const Tensor& values,
                          const Tensor& keep_mask = {}) const;
  /// q (B, Tq, Dq): the queries of the steps first_step, first_step + 1, ... -> context
  /// (B, Tq, Dv) and weights (B, Tq, Tk), those of the layer itself at keys that were not made
  /// ready. ShapeError for another batch or a width that the score does not take, DTypeError unless
  /// q is floating.
  virtual SoftAttended attend(const Tensor& q, const AttentionSource& source,
                              int64_t first_step = 0) const = 0;

 private:
  virtual Tensor project(const Tensor& keys) const = 0;
};

struct SourceAttentionOptions {
  ScoreOptions score = {};
  int64_t window = 10;  ///< of local-m and local-p: keys on either side
};
/// By the name of a score (score.h): soft attention over it. "local-m" and "local-p": local
/// attention (local.h) over "general", as Luong 2015 had it. ValueError for another name, and where
/// the parts complain.
std::unique_ptr<SourceAttention> make_source_attention(std::string_view kind,
                                                       const SourceAttentionOptions& o);

}  // namespace fovea
