#include "fovea/nn/interchange/detail/gpt2_sizes.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <set>
#include <system_error>
#include <utility>

#include "fovea/core/error.h"
#include "fovea/io/unexpected.h"
#include "fovea/ops/ops.h"

namespace fovea::detail {
namespace {

// What the metadata say, or 0 when they do not.
int64_t recorded_heads(const std::map<std::string, std::string>& metadata,
                       const std::string& path) {
  const auto it = metadata.find(kGpt2Heads);
  if (it == metadata.end()) return 0;
  const std::string& text = it->second;
  int64_t heads = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), heads);
  if (error != std::errc() || end != text.data() + text.size() || heads < 1) {
    throw IoError(fmt::format("{}: the metadata give {} as '{}'; a number from 1 is expected", path,
                              kGpt2Heads, shown(text)));
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

// Every tensor of such a model. They take no memory: each shows one number everywhere.
NamedTensors wanted_of(const GPTOptions& o) {
  NamedTensors list;
  const auto add = [&list](const std::string& name, const Shape& shape) {
    list.emplace_back(name, expand(zeros(Shape::filled(shape.rank(), 1)), shape));
  };
  const auto norm = [&](const std::string& name) {
    add(name + ".weight", {o.d_model});
    add(name + ".bias", {o.d_model});
  };
  const auto matrix = [&](const std::string& name, int64_t in, int64_t out) {
    add(name + ".weight", {in, out});
    add(name + ".bias", {out});
  };
  const int64_t d = o.d_model, d_ff = o.d_ff > 0 ? o.d_ff : 4 * d;
  add("wte.weight", {o.vocab, d});
  add("wpe.weight", {o.context, d});
  for (int64_t i = 0; i < o.layers; ++i) {
    const std::string h = fmt::format("h.{}.", i);
    norm(h + "ln_1");
    matrix(h + "attn.c_attn", d, 3 * d);
    matrix(h + "attn.c_proj", d, d);
    norm(h + "ln_2");
    matrix(h + "mlp.c_fc", d, d_ff);
    matrix(h + "mlp.c_proj", d_ff, d);
  }
  norm("ln_f");
  return list;
}

void check_fit(const GPTOptions& o, const NamedTensors& state, const std::string& path) {
  NamedTensors wanted = wanted_of(o);
  for (auto& [name, t] : wanted) {
    const Tensor given = find(state, name);
    if (!given.defined() || given.dtype() != f64) continue;
    t = expand(zeros(Shape::filled(t.dim(), 1), f64), t.shape());  // is converted
  }
  const StateDiff diff = compare_states(wanted, state);
  if (diff.ok()) return;
  throw IoError(
      fmt::format("{}: load_gpt2: the tensors are not those of a GPT-2: {}", path, diff.str()));
}

}  // namespace

GPTOptions gpt2_sizes(const NamedTensors& state, const std::map<std::string, std::string>& metadata,
                      const std::string& path, int64_t heads) {
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
  if (o.layers == 0) {
    throw IoError(fmt::format("{}: there is no h.0; a GPT-2 has at least one block", path));
  }
  const Tensor up = find(state, "h.0.mlp.c_fc.weight");
  if (up.defined() && up.dim() == 2) o.d_ff = up.size(1);
  o.heads = heads_of(o, recorded_heads(metadata, path), path, heads);
  if (o.d_model % o.heads != 0) {
    throw IoError(fmt::format("{}: the width {} is no multiple of {} heads; say how many it has",
                              path, o.d_model, o.heads));
  }
  try {
    check_fit(o, state, path);
  } catch (const ShapeError& e) {  // of sizes whose product no tensor can have
    throw IoError(fmt::format("{}: {}", path, e.what()));
  }
  return o;
}

}  // namespace fovea::detail
