#include "fovea/nn/interchange/gpt2.h"

#include <fmt/format.h>

#include "fovea/core/error.h"
#include "fovea/io/safetensors.h"
#include "fovea/nn/interchange/detail/entries.h"
#include "fovea/nn/interchange/detail/gpt2_sizes.h"
#include "fovea/ops/ops.h"

namespace fovea {
namespace {

using detail::Entries;

Entries entries_of(const GPT& m) {
  Entries e;
  const auto add = [&e](std::string name, Tensors parts, bool transposed = false) {
    e.push_back({std::move(name), std::move(parts), transposed});
  };
  const auto norm = [&](const std::string& name, const LayerNorm& n) {
    add(name + ".weight", {n.weight});
    add(name + ".bias", {n.bias});
  };
  const auto matrix = [&](const std::string& name, const std::vector<const Linear*>& list) {
    Tensors weights, biases;
    for (const Linear* l : list) weights.push_back(l->weight), biases.push_back(l->bias);
    add(name + ".weight", weights, true);
    add(name + ".bias", biases);
  };
  add("wte.weight", {m.tokens.weight});
  add("wpe.weight", {m.positions.table.weight});
  for (size_t i = 0; i < m.blocks.layers.size(); ++i) {
    const TransformerEncoderLayer& block = m.blocks.layers[i];
    const std::string h = fmt::format("h.{}.", i);
    const MultiHeadAttention& a = block.attention;
    norm(h + "ln_1", block.norm1);
    matrix(h + "attn.c_attn", {&a.w_q, &a.w_k, &a.w_v});
    matrix(h + "attn.c_proj", {&a.w_o});
    norm(h + "ln_2", block.norm2);
    matrix(h + "mlp.c_fc", {&block.mlp.up});
    matrix(h + "mlp.c_proj", {&block.mlp.down});
  }
  norm("ln_f", *m.blocks.norm);
  return e;
}

// Without the prefix, the masks and the second name of the token table.
NamedTensors plain(const TensorMap& file, const std::string& path) {
  NamedTensors state;
  Tensor head;
  for (const auto& [name, t] : file.tensors) {
    constexpr std::string_view kPrefix = "transformer.";
    const std::string own = name.starts_with(kPrefix) ? name.substr(kPrefix.size()) : name;
    if (own.ends_with(".attn.bias") || own.ends_with(".attn.masked_bias")) continue;
    if (own == "lm_head.weight") {
      head = t;
    } else {
      state.emplace_back(own, t);
    }
  }
  const Tensor table = find(state, "wte.weight");
  if (head.defined() && !table.defined()) state.emplace_back("wte.weight", head);
  if (head.defined() && table.defined() && !same_bits(head, table)) {
    throw IoError(fmt::format(
        "{}: lm_head.weight differs from wte.weight; the head of a GPT-2 is its token table",
        path));
  }
  return state;
}

}  // namespace

GPT load_gpt2(const std::string& path, int64_t heads) {
  const TensorMap file = read_safetensors(path);
  const NamedTensors state = plain(file, path);
  const GPTOptions sizes = detail::gpt2_sizes(state, file.metadata, path, heads);
  GPT model(sizes);
  try {
    detail::assign_foreign("load_gpt2", entries_of(model), state);
  } catch (const ShapeError& e) {
    throw IoError(fmt::format("{}: {}", path, e.what()));
  }
  return model;
}

void save_gpt2(const GPT& model, const std::string& path) {
  const GPTOptions& o = model.options();
  if (!o.bias || o.activation != Activation::gelu_tanh || o.eps != GPTOptions{}.eps) {
    throw ValueError(
        fmt::format("save_gpt2: the model has no biases, not gelu_tanh, or an eps that is not {}; "
                    "this is no GPT-2, and the file would not say so",
                    GPTOptions{}.eps));
  }
  write_safetensors(path, {detail::foreign_state(entries_of(model)),
                           {{"format", "pt"}, {detail::kGpt2Heads, fmt::format("{}", o.heads)}}});
}

}  // namespace fovea
