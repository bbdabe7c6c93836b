// GPT-2 in the names of Hugging Face's checkpoints: model.safetensors of "gpt2" and its kin.
//
//     wte.weight (V, D)   wpe.weight (context, D)   ln_f
//     h.N.ln_1   h.N.attn.c_attn   h.N.attn.c_proj   h.N.ln_2   h.N.mlp.c_fc   h.N.mlp.c_proj
//
// Their "Conv1D" holds a matrix as (in, out), the transpose of Linear's, and c_attn holds those of
// queries, keys and values side by side.
#pragma once

#include <string>

#include "fovea/nn/transformer/gpt.h"

namespace fovea {

/// A GPT with the weights of such a file, of the sizes found there. heads: 0 takes heads of width
/// 64, as every GPT-2 has. Names may begin with "transformer."; the causal masks among the buffers
/// are passed over, and so is lm_head.weight, which must equal wte.weight. F16 and BF16 are
/// converted to f32. IoError naming the file and what is missing, extra or of another shape.
GPT load_gpt2(const std::string& path, int64_t heads = 0);

/// Writes such a file. ValueError for a model that is no GPT-2: without biases, with another
/// activation than gelu_tanh or another eps than 1e-5, none of which the file could tell.
void save_gpt2(const GPT& model, const std::string& path);

}  // namespace fovea
