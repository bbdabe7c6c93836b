#include "fovea/nn/interchange/gpt2.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <set>
#include <system_error>
#include <utility>

#include "fovea/core/error.h"
#include "fovea/io/safetensors.h"
#include "fovea/io/unexpected.h"
#include "fovea/nn/interchange/detail/entries.h"
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

constexpr const char* kHeads = "n_head";  // as in Hugging Face's config.json

// What the metadata say, or 0 when they do not.
int64_t recorded_heads(const TensorMap& file, const std::string& path) {
  const auto it = file.metadata.find(kHeads);
  if (it == file.metadata.end()) return 0;
  const std::string& text = it->second;
  int64_t heads = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), heads);
  if (error != std::errc() || end != text.data() + text.size() || heads < 1) {
    throw IoError(fmt::format("{}: the metadata give {} as '{}'; a number from 1 is expected", path,
                              kHeads, detail::shown(text)));
  }
  return heads;
}

// How many heads the model has, from whoever says so.
int64_t heads_of(const GPTOptions& o, int64_t recorded, const std::string& path, int64_t asked) {
  if (asked < 0) {
    throw ValueError(
        fmt::format("load_gpt2: heads is {}; at least 1, or 0 for what the file says", asked));
  }
  if (asked > 0 && recorded > 0 && asked != recorded) {
    throw IoError(fmt::format("{}: {} heads are asked for, the file was saved with {}", path, asked,
                              recorded));
  }
  if (asked + recorded > 0) return std::max(asked, recorded);
  constexpr std::pair<int64_t, int64_t> kPublished[] = {
      {768, 12}, {768, 6}, {1024, 24}, {1280, 36}, {1600, 48}};  // width and layers
  for (const auto& [width, layers] : kPublished) {
    if (o.d_model == width && o.layers == layers) return width / 64;
  }
  throw IoError(
      fmt::format("{}: the file does not say how many heads the model has, {} wide in {} layers; "
                  "pass their number, n_head in its config.json",
                  path, o.d_model, o.layers));
}

// The sizes of the model that the file holds.
GPTOptions sizes(const NamedTensors& state, int64_t recorded, const std::string& path,
                 int64_t heads) {
  const auto matrix = [&](const char* name) {
    const Tensor t = find(state, name);
    if (t.defined() && t.dim() == 2 && t.numel() > 0) return t;
    throw IoError(fmt::format("{}: {} is {}; a GPT-2 has a matrix of that name", path, name,
                              t.defined() ? t.shape().str() : "missing"));
  };
  GPTOptions o;
  const Tensor tokens = matrix("wte.weight");
  o.vocab = tokens.size(0);
  o.d_model = tokens.size(1);
  o.context = matrix("wpe.weight").size(0);
  std::set<std::string> blocks;
  for (const auto& [name, t] : state) {
    if (name.starts_with("h.")) blocks.insert(name.substr(0, name.find('.', 2)));
  }
  o.layers = static_cast<int64_t>(blocks.size());
  const Tensor up = find(state, "h.0.mlp.c_fc.weight");
  if (up.defined() && up.dim() == 2) o.d_ff = up.size(1);
  o.heads = heads_of(o, recorded, path, heads);
  if (o.d_model % o.heads != 0) {
    throw IoError(fmt::format("{}: the width {} is no multiple of {} heads; say how many it has",
                              path, o.d_model, o.heads));
  }
  return o;
}

}  // namespace

GPT load_gpt2(const std::string& path, int64_t heads) {
  const TensorMap file = read_safetensors(path);
  const NamedTensors state = plain(file, path);
  GPT model(sizes(state, recorded_heads(file, path), path, heads));
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
                           {{"format", "pt"}, {kHeads, fmt::format("{}", o.heads)}}});
}

}  // namespace fovea
