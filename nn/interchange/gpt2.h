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

/// A GPT with the weights of such a file, of the sizes found there. The tensors do not tell how
/// many heads there are. 0 takes the number from the metadata, where save_gpt2 puts it as "n_head",
/// or, for a model of a published size (gpt2, distilgpt2, gpt2-medium, -large and -xl), heads of
/// width 64 as these have; IoError for other files, which need `heads`. Names may begin with
/// "transformer."; the causal masks among the buffers are passed over. lm_head.weight is the same
/// table as wte.weight: either is enough, and both must hold the same bits. F16 and BF16 are
/// converted to f32. IoError naming the file and what is missing, extra or of another shape.
GPT load_gpt2(const std::string& path, int64_t heads = 0);

/// Writes such a file, with the number of heads in its metadata. ValueError for a model that is no
/// GPT-2: without biases, or with another activation than gelu_tanh or another eps than 1e-5, which
/// the file does not hold.
void save_gpt2(const GPT& model, const std::string& path);

}  // namespace fovea
