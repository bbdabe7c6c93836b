#include "fovea/nn/interchange/torch_names.h"

#include <fmt/format.h>

#include "fovea/core/error.h"
#include "fovea/io/safetensors.h"
#include "fovea/nn/interchange/detail/entries.h"
#include "fovea/nn/transformer/decoder.h"

namespace fovea {
namespace {

using detail::Entries;
using detail::Entry;

std::string join(const std::string& a, const std::string& b) {
  return a.empty() || b.empty() ? a + b : a + "." + b;
}

// PyTorch's name for a member, "" when its own members stand directly in the layer.
std::string member_name(const Module& owner, const std::string& name) {
  if (dynamic_cast<const TransformerEncoderLayer*>(&owner)) {
    if (name == "attention") return "self_attn";
    if (name == "mlp") return "";
  }
  if (dynamic_cast<const TransformerDecoderLayer*>(&owner)) {
    if (name == "self_attention") return "self_attn";
    if (name == "cross_attention") return "multihead_attn";
    if (name == "mlp") return "";
  }
  if (dynamic_cast<const MLP*>(&owner)) {
    if (name == "up") return "linear1";
    if (name == "down") return "linear2";
  }
  return name;
}

void add_attention(Entries& entries, const std::string& prefix, const MultiHeadAttention& m) {
  const MultiHeadAttentionOptions& o = m.options();
  if (o.kv_heads != o.heads || o.rotary) {
    throw ValueError(
        fmt::format("torch_state: {} has {}; torch.nn.MultiheadAttention has no such form",
                    prefix.empty() ? "MultiHeadAttention" : prefix,
                    o.rotary ? "rotary positions"
                             : fmt::format("{} heads and {} of keys", o.heads, o.kv_heads)));
  }
  const auto add = [&](const char* name, const Tensors& parts) {
    entries.push_back({join(prefix, name), parts});
  };
  if (o.kdim == o.d_model && o.vdim == o.d_model) {
    add("in_proj_weight", {m.w_q.weight, m.w_k.weight, m.w_v.weight});
  } else {
    add("q_proj_weight", {m.w_q.weight});
    add("k_proj_weight", {m.w_k.weight});
    add("v_proj_weight", {m.w_v.weight});
  }
  if (o.bias) add("in_proj_bias", {m.w_q.bias, m.w_k.bias, m.w_v.bias});
  add("out_proj.weight", {m.w_o.weight});
  if (o.bias) add("out_proj.bias", {m.w_o.bias});
}

// Walks the layers with both names of where it is.
class Walk final : public Visitor {
 public:
  explicit Walk(const Module& m) {
    enter("", "", m);
    const_cast<Module&>(m).visit(*this);  // reads only
  }
  Entries entries;

 private:
  struct Place {
    std::string ours, theirs;
    const Module* module;
  };

  void on_module(const std::string& name, Module& child) override {
    const Place at = owner(name);
    enter(name, join(at.theirs, member_name(*at.module, rest(at, name))), child);
  }
  void on_parameter(const std::string& name, Tensor& t) override {
    const Place at = owner(name);
    if (!taken(at)) entries.push_back({join(at.theirs, rest(at, name)), {t}});
  }
  void on_buffer(const std::string& name, Tensor& t) override { on_parameter(name, t); }

  void enter(const std::string& ours, const std::string& theirs, const Module& m) {
    if (const auto* attention = dynamic_cast<const MultiHeadAttention*>(&m)) {
      add_attention(entries, theirs, *attention);
    }
    places_.push_back({ours, theirs, &m});
  }

  // The innermost layer that a name lies in.
  Place owner(const std::string& name) const {
    Place best = places_.front();
    for (const Place& p : places_) {
      if (p.ours.size() > best.ours.size() && name.starts_with(p.ours + ".")) best = p;
    }
    return best;
  }
  static std::string rest(const Place& at, const std::string& name) {
    return at.ours.empty() ? name : name.substr(at.ours.size() + 1);
  }
  // Whether the layer or one that holds it has been dealt with as a whole.
  bool taken(const Place& at) const {
    for (const Place& p : places_) {
      const bool holds = p.ours.empty() || at.ours == p.ours || at.ours.starts_with(p.ours + ".");
      if (holds && dynamic_cast<const MultiHeadAttention*>(p.module)) return true;
    }
    return false;
  }

  std::vector<Place> places_;
};

}  // namespace

NamedTensors torch_state(const Module& m) { return detail::foreign_state(Walk(m).entries); }

void load_torch_state(Module& m, const NamedTensors& state) {
  detail::assign_foreign("load_torch_state", Walk(m).entries, state);
}

void save_torch(const Module& m, const std::string& path) {
  write_safetensors(path, {torch_state(m), {{"format", "pt"}}});
}

void load_torch(Module& m, const std::string& path) {
  const TensorMap file = read_safetensors(path);
  try {
    load_torch_state(m, file.tensors);
  } catch (const ShapeError& e) {
    throw IoError(fmt::format("{}: {}", path, e.what()));
  }
}

}  // namespace fovea
