// A recurrent decoder that looks back at the source at every step. With e_t the vector of target
// token t, s_t the state of the cell, and m the memory:
//
//     bahdanau    c_t = attend(s_{t-1}, m)     look first, with what is known so far,
//                 s_t = cell([e_t; c_t], s_{t-1})                then step with what was seen
//                 f_t = tanh(W [s_t; c_t; e_t])
//
//     luong       s_t = cell([e_t; f_{t-1}], s_{t-1})            step first; with input feeding the
//                 c_t = attend(s_t, m)                           cell hears what was seen last
//                 f_t = tanh(W [s_t; c_t])
//
//     none        c_t = the encoder's summary, at every step: all that is known of the source has
//                 to fit into one vector (Cho 2014), which is what attention was invented against
//
//     logits_t = V f_t + b
//
// How the gradient flows: without attention the loss at step t reaches source token j through every
// state between them, |t| + |j| products of Jacobians. With it, dc_t reaches memory j in one step,
// a_tj of it, and the scores learn in the same step where they should have looked (soft.h).
//
// Bahdanau 2014, section 3.1 and A.2 (with tanh in place of maxout); Luong 2015, section 3.1 and
// 3.3 (input feeding).
#pragma once

#include <memory>
#include <string>

#include "fovea/nn/attention/source.h"
#include "fovea/nn/linear.h"
#include "fovea/nn/seq2seq/encoder.h"

namespace fovea {

enum class DecoderOrder { bahdanau, luong };

struct AttentionDecoderOptions {
  int64_t vocab = 0;
  int64_t embedding = 0;     ///< E
  int64_t hidden = 0;        ///< H, of the cell and of f
  int64_t memory = 0;        ///< M, the width of what the encoder gives
  std::string cell = "gru";  ///< rnn, lstm or gru
  int64_t layers = 1;        ///< of the cell; the last one asks
  /// A name that make_source_attention() knows, or "none". dot, scaled_dot and cosine need H = M.
  std::string attention = "additive";
  DecoderOrder order = DecoderOrder::bahdanau;
  bool input_feeding = true;  ///< of luong with attention
  int64_t window = 10;        ///< of local-m and local-p
  int64_t max_source = 0;     ///< of location: the longest source
  double dropout = 0;         ///< of e, between layers, and of f
  int64_t padding_idx = -1;
  DType dtype = f32;
};

/// Parameters "embedding", "bridge" (a Linear M -> the first states), "cell", "attention",
/// "readout" (W) and "output" (V). ValueError for options outside their meaning.
class AttentionDecoder : public Module {
 public:
  Embedding embedding;
  Dropout dropout;
  std::unique_ptr<Recurrent> cell;
  std::unique_ptr<SourceAttention> attention;  ///< null with "none"
  Linear bridge, readout, output;

  explicit AttentionDecoder(const AttentionDecoderOptions& o);

  /// What stays the same from step to step: the keys are projected here.
  struct Source {
    AttentionSource attention;  ///< with attention
    Tensor summary;             ///< (B, M), without
    void select(const Tensor& rows);
  };
  /// What a step hands on.
  struct State {
    RecurrentState cell;
    Tensor fed;        ///< f of the last step, (B, 1, H), with input feeding
    int64_t step = 0;  ///< how many were taken
    void select(const Tensor& rows);
  };
  struct Steps {
    Tensor features;  ///< f, (B, T, H)
    Tensor weights;   ///< (B, T, S); undefined with "none"
  };

  /// Reads memory (B, S, M) and keep_mask (B, S) with attention (errors: SourceAttention::prepare),
  /// summary (B, M) with "none" (ShapeError).
  Source prepare(const Encoded& source) const;
  /// Reads summary (B, M): states (layers, B, H) = tanh(bridge(summary)), those of an LSTM's cell
  /// as well. ShapeError for another shape.
  State start(const Encoded& source) const;
  /// Reads ids i64 (B, T) behind what was read before, and changes the state to that after them.
  /// Where the order lets it, all T steps go through the cell and the attention at once. ShapeError
  /// for another B than the state's and for T = 0, DTypeError unless i64, IndexError for an id
  /// outside the vocabulary.
  Steps operator()(const Tensor& ids, const Source& source, State& state) const;
  /// (B, T, H) -> (B, T, V)
  Tensor logits(const Tensor& features) const { return output(features); }

  const AttentionDecoderOptions& options() const { return o_; }
  void visit(Visitor& v) override;

 private:
  bool feeds() const { return attention && luong() && o_.input_feeding; }
  int64_t states() const { return cell->has_cell() ? 2 : 1; }  // of each layer: h, or h and c
  bool luong() const { return o_.order == DecoderOrder::luong; }
  void check_summary(const Tensor& summary) const;
  Tensor top(const RecurrentState& s) const;
  Steps at_once(const Tensor& e, const Source& source, State& state) const;
  Steps look_then_step(const Tensor& e, const Source& source, State& state) const;
  Steps step_then_look(const Tensor& e, const Source& source, State& state) const;

  AttentionDecoderOptions o_;
};

}  // namespace fovea
