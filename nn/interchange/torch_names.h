// PyTorch's names for the layers that PyTorch has.
//
//     MultiHeadAttention        w_q, w_k, w_v       in_proj_weight (3 E, E), in_proj_bias (3 E); or
//                                                   q_proj_weight, ... when the widths differ
//                               w_o                 out_proj
//     TransformerEncoderLayer   attention           self_attn
//                               mlp.up, mlp.down    linear1, linear2
//     TransformerDecoderLayer   self_attention      self_attn
//                               cross_attention     multihead_attn
//     Linear, Embedding, LayerNorm, TransformerEncoder, TransformerDecoder: the same in both
//     RNN, LSTM, GRU, RNNCell, LSTMCell, GRUCell: the same in both
//
// The numbers are the same too: a layer that has loaded the state of its counterpart (batch_first,
// with the same options) gives the same outputs and gradients.
#pragma once

#include <string>

#include "fovea/nn/module.h"

namespace fovea {

/// The parameters of `m` and of the layers in it under the names of torch.nn's state_dict(), as
/// copies. ValueError for layers that PyTorch lacks a form of: attention with grouped heads or
/// rotary positions.
NamedTensors torch_state(const Module& m);

/// Copies such a state into `m`; floats are converted to the dtype of `m`. A tied tensor may be
/// given under any of its names, or under several with the same bits. Strict: one ShapeError
/// lists all missing, extra and mismatched names, and then nothing has changed.
void load_torch_state(Module& m, const NamedTensors& state);

/// The same to and from a safetensors file, as safetensors.torch.save_file(layer.state_dict(),
/// path) writes it. F16 and BF16 are converted. IoError naming the file.
void save_torch(const Module& m, const std::string& path);
void load_torch(Module& m, const std::string& path);

}  // namespace fovea
