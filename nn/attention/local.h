// Local attention: look at a window of 2 D + 1 keys, not at all of them. Luong 2015, section 3.2.
//
//     local-m   the window lies at p = t, the step of the query ("monotonic")
//     local-p   the query predicts where, p = S sigmoid(v' tanh(W q)) in a sentence of length S,
//               and the weights fall off around it:                             (eq. 9 and 10)
//               a_j = softmax_j(s) exp(-(j - p)^2 / (2 sigma^2)),  sigma = D / 2
//
// In both, softmax is over the keys j in [p - D, p + D] alone. The weights of local-p are not
// scaled to sum to 1 again. Positions count from 0, so that p of local-p lies in (0, S).
//
// How the gradient flows into p. Which keys are in the window is a step function of p: no gradient.
// The bell is smooth: da_j/dp = a_j (j - p) / sigma^2, so p moves towards the keys j whose weight
// should grow, from the one side and the other, and through S sigmoid' and tanh' into v and W. That
// is what lets the model learn where to look by plain backpropagation, without sampling places.
#pragma once

#include <memory>
#include <optional>

#include "fovea/nn/attention/soft.h"
#include "fovea/nn/linear.h"

namespace fovea {

enum class LocalCentre { monotonic, predicted };  ///< local-m, local-p

struct LocalAttentionOptions {
  LocalCentre centre = LocalCentre::predicted;
  int64_t window = 10;    ///< D: keys on either side; with predicted at least 1, else at least 0
  int64_t query_dim = 0;  ///< predicted: the width of queries
  int64_t hidden = 0;     ///< predicted: the width of W q; 0: query_dim
  DType dtype = f32;
};

/// Parameters: those of the score under "score."; with predicted also "w", a Linear without bias,
/// Dq -> hidden, and "v", one of hidden -> 1. ValueError for a missing score or width.
class LocalAttention : public SourceAttention {
 public:
  std::shared_ptr<Score> score;
  std::optional<Linear> w, v;

  LocalAttention(std::shared_ptr<Score> score, const LocalAttentionOptions& o);

  /// q (B, Tq, Dq), keys (B, Tk, Dk), values (B, Tk, Dv). keep_mask (B, Tk), bool, true = a word:
  /// padding is never in a window, and S is the number of words of each sentence. first_step: with
  /// monotonic, the step of the first query: p = first_step + i; a decoder that runs one step at a
  /// time passes it. A window without words (p beyond the sentence) gives weights and context 0.
  /// ShapeError for other shapes.
  SoftAttended operator()(const Tensor& q, const Tensor& keys, const Tensor& values,
                          const Tensor& keep_mask = {}, int64_t first_step = 0) const;
  SoftAttended attend(const Tensor& q, const AttentionSource& source,
                      int64_t first_step = 0) const override;
  /// p, (B, Tq, 1), for sentences of these lengths (B, 1, 1). Only with predicted.
  Tensor predict(const Tensor& q, const Tensor& lengths) const;

  const LocalAttentionOptions& options() const { return o_; }
  void visit(Visitor& visitor) override;

 private:
  // The window of each query, and what its weights are multiplied by.
  struct Window {
    Tensor keep;  // (B or 1, Tq, Tk)
    Tensor away;  // j - p, the same shape
  };
  Window window(const Tensor& q, int64_t tk, const Tensor& words, int64_t first_step) const;
  Tensor weights(const Tensor& scores, const Window& window) const;
  Tensor project(const Tensor& keys) const override;
  LocalAttentionOptions o_;
};

}  // namespace fovea
