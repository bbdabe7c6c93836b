// Recurrent layers: a state that is read, changed and handed on at every step.
//
//     LSTM lstm({.in = 64, .hidden = 128, .layers = 2, .bidirectional = true});
//     const auto [output, state] = lstm(x, {}, lengths);       // x (B, T, 64), output (B, T, 256)
//
// How the gradient flows. The state at step t reaches the loss through all that follow it, so the
// gradient is carried back by one Jacobian a step, and from step t to step k by their product,
//
//     dL/dh_k  +=  (J_{k+1}' ... J_{t-1}' J_t') dL/dh_t,      J_t = dh_t / dh_{t-1}.
//
// In an RNN J_t = diag(1 - h_t^2) W_hh: t - k factors with the same matrix. When the largest
// singular value of W_hh is s < 1 the product is s^(t - k) at most, and what lies far back
// cannot be learned: the gradient vanishes. Above 1 it may grow as fast: it explodes. Bengio 1994;
// Pascanu 2013.
//
// The cell of an LSTM is added to, c_t = f_t c_{t-1} + i_t g_t. Beside the paths through the gates,
// which vanish as before, there is one without any matrix,
//
//     dc_t / dc_k  =  diag(f_t ... f_{k+2} f_{k+1})  +  paths through the gates,
//
// and where a forget gate is open, f = 1, the gradient passes as it is, over any number of steps.
// Hochreiter & Schmidhuber 1997 had f = 1 throughout; Gers 2000 lets the net learn when to forget.
// In a GRU the factor is z_t, since h_t = (1 - z_t) n_t + z_t h_{t-1}. Against gradients that
// explode nothing here helps: clip them (clip_grad_norm).
#pragma once

#include <memory>
#include <string_view>

#include "fovea/nn/recurrent/gru.h"
#include "fovea/nn/recurrent/lstm.h"
#include "fovea/nn/recurrent/rnn.h"

namespace fovea {

/// "rnn", "lstm" or "gru". ValueError for another name.
std::unique_ptr<Recurrent> make_recurrent(std::string_view kind, const RecurrentLayerOptions& o);

}  // namespace fovea
