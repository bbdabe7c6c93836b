// What rnn, lstm and gru share: checks, the walk over time, the products after it. Not public.
//
// B batch, T time, I input, G gates, H hidden, P planes (kernels/recurrent.h).
#pragma once

#include <functional>
#include <utility>

#include "fovea/ops/internal.h"
#include "fovea/ops/kernels/recurrent.h"

namespace fovea::detail {

/// What the rule of a cell reads. Nothing is left of x beyond a sequence's length. The fused walks
/// read x as it came, and neither `keep` nor `before`.
struct RecurrentSaved {
  Tensor x, h0, c0;               // (B, T, I), (B, H), and (B, H) in lstm only
  Tensor w_ih, w_hh, b_ih, b_hh;  // (G H, I), (G H, H), and (G H) or undefined
  Tensor y;                       // what the operation gave
  Tensor keep;                    // bool (B, T, 1): the steps there are; undefined: all
  bool reverse;
  Tensor before;  // the states h before each step, (B, T, H), 0 where there is none
};

/// The gradients of the planes of all steps before activation, (B, T, P H), and of the states.
struct RecurrentGradients {
  Tensor planes, h0, c0;
};

/// A kind of layer. Its planes are its gates; where there is one plane more, the last gate keeps
/// what comes from the state apart from what comes from the input.
struct RecurrentKind {
  const char* op;
  int64_t gates, planes;
  bool saves_planes;
  struct {
    void (*f32)(const kernels::RecurrentForward<float>&);
    void (*f64)(const kernels::RecurrentForward<double>&);
  } forward;
  struct {
    void (*f32)(const kernels::RecurrentBackward<float>&);
    void (*f64)(const kernels::RecurrentBackward<double>&);
  } backward;
  RecurrentGradients (*rule)(const RecurrentSaved&, const Tensor& gy);
};

/// The operation: one node for all steps of one direction. c0 is null but in lstm.
Tensor recurrent(const RecurrentKind& kind, const Tensor& x, const Tensor& h0, const Tensor* c0,
                 const RecurrentWeights& w, const RecurrentOptions& o);

/// The state before each step, (B, T, H), of those after it and the first.
Tensor states_before(const Tensor& first, const Tensor& after, bool reverse);

/// Backward through time, in ops: g = 0, then from the last step that was read to the first
///   {g, d} = step(t, g + gy_t)   where the sequence has that step, else {g + gy_t, 0}.
/// Returns all d (B, T, ..), and g. gy: (B, T, width of the state).
using BackStep = std::function<std::pair<Tensor, Tensor>(int64_t t, const Tensor& g)>;
std::pair<Tensor, Tensor> walk_back(const RecurrentSaved& s, const Tensor& gy,
                                    const BackStep& step);

}  // namespace fovea::detail
