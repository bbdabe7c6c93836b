// Hard attention: look at one place, drawn from the weights. Mnih 2014; Xu 2015, section 4.1.
//
//     i ~ Multinomial(a),   c = v_i
//
// How the gradient flows: it does not. i is an integer; a little more weight changes nothing until
// it changes everything, so dc / da is 0 or undefined, and the values v_i alone get a gradient.
// What can be differentiated is the expectation over draws, and there the log of the probability
// comes in, which has a gradient (Williams 1992, REINFORCE):
//
//     d/dw E[R] = sum_i R_i da_i/dw = sum_i a_i R_i d log a_i/dw = E[R_i d log a_i/dw]
//
// so one draw gives the estimate R_i d log a_i / dw without bias: multiply log a_i, not c, by the
// reward. soft.h keeps the whole mean instead, and needs no estimate.
#pragma once

#include "fovea/core/random.h"
#include "fovea/core/tensor.h"

namespace fovea {

/// probs (B, T), weights >= 0 that need not sum to 1 -> i64 (B, 1), one index a row, in [0, T). An
/// index of weight 0 (a masked one) is never drawn. ShapeError for another rank; ValueError for
/// negative, NaN or infinite weights and for a row of zeros: a sentence of nothing but padding has
/// no place to look at.
Tensor hard_attention_sample(const Tensor& probs, Generator* g = nullptr);

}  // namespace fovea
