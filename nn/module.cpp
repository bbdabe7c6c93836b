#include "fovea/nn/module.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "fovea/core/error.h"
#include "fovea/ops/ops.h"

namespace fovea {

void Visitor::operator()(std::string_view name, Module& child) {
  const size_t before = prefix_.size();
  prefix_.append(name);
  on_module(prefix_, child);
  prefix_ += '.';
  child.visit(*this);
  prefix_.resize(before);
}

namespace {

struct Member {
  std::string name;
  Tensor tensor;
  bool parameter;
};

// Every distinct tensor in order, and the further names of tied ones.
class Collect final : public Visitor {
 public:
  explicit Collect(const Module& m) {
    const_cast<Module&>(m).visit(*this);  // reads only
  }
  std::vector<Member> members;
  std::vector<Alias> aliases;

 private:
  void on_parameter(const std::string& name, Tensor& t) override { add(name, t, true); }
  void on_buffer(const std::string& name, Tensor& t) override { add(name, t, false); }
  void on_module(const std::string&, Module&) override {}
  void add(const std::string& name, const Tensor& t, bool parameter) {
    if (!names_.insert(name).second) {
      throw ValueError(fmt::format("visit: two members are called `{}`; give each its name", name));
    }
    const auto [it, fresh] = index_.try_emplace(t.impl(), members.size());
    if (fresh) {
      members.push_back({name, t, parameter});
    } else {
      aliases.push_back({name, members[it->second].name});
    }
  }
  std::unordered_map<const detail::TensorImpl*, size_t> index_;
  std::unordered_set<std::string> names_;
};

class SetTraining final : public Visitor {
 public:
  explicit SetTraining(bool on) : on_(on) {}

 private:
  void on_parameter(const std::string&, Tensor&) override {}
  void on_buffer(const std::string&, Tensor&) override {}
  void on_module(const std::string&, Module& child) override { child.training = on_; }
  bool on_;
};

class Convert final : public Visitor {
 public:
  explicit Convert(DType dtype) : dtype_(dtype) {}

 private:
  void on_parameter(const std::string&, Tensor& t) override { convert(t); }
  void on_buffer(const std::string&, Tensor& t) override { convert(t); }
  void on_module(const std::string&, Module&) override {}
  void convert(Tensor& t) {
    if (!t.is_floating() || t.dtype() == dtype_) return;
    for (const auto& [before, after] : done_) {
      if (before.same_as(t)) {
        t = after;
        return;
      }
    }
    Tensor after = t.detach().to(dtype_);
    if (t.requires_grad()) after.requires_grad_();
    done_.emplace_back(t, after);
    t = after;
  }
  DType dtype_;
  std::vector<std::pair<Tensor, Tensor>> done_;  // holds the old ones, so no address comes back
};

NamedTensors named(const Module& m, bool parameter) {
  NamedTensors list;
  for (Member& x : Collect(m).members) {
    if (x.parameter == parameter) list.emplace_back(std::move(x.name), std::move(x.tensor));
  }
  return list;
}

}  // namespace

Tensors Module::parameters() const {
  Tensors list;
  for (Member& x : Collect(*this).members) {
    if (x.parameter) list.push_back(std::move(x.tensor));
  }
  return list;
}

NamedTensors Module::named_parameters() const { return named(*this, true); }
NamedTensors Module::named_buffers() const { return named(*this, false); }

int64_t Module::numel() const {
  int64_t n = 0;
  for (const Tensor& t : parameters()) n += t.numel();
  return n;
}

void Module::train(bool on) {
  training = on;
  SetTraining v(on);
  visit(v);
}

void Module::zero_grad() const {
  for (const Tensor& t : parameters()) {
    if (t.requires_grad()) t.zero_grad();
  }
}

void Module::requires_grad_(bool on) const {
  for (const Tensor& t : parameters()) {
    if (t.requires_grad() != on) t.requires_grad_(on);
  }
}

void Module::to(DType dtype) {
  if (!fovea::is_floating(dtype)) {
    throw DTypeError(
        fmt::format("Module::to: {} is no floating dtype; use f32 or f64", fovea::name(dtype)));
  }
  Convert v(dtype);
  visit(v);
}

NamedTensors Module::state() const {
  NamedTensors list;
  for (Member& x : Collect(*this).members) list.emplace_back(std::move(x.name), x.tensor.detach());
  return list;
}

StateDiff Module::check_state(const NamedTensors& given) const {
  const Collect all(*this);
  NamedTensors wanted;
  for (const Member& x : all.members) wanted.emplace_back(x.name, x.tensor);
  return compare_states(wanted, all.aliases, given);
}

void Module::assign_state(const NamedTensors& given) {
  const NoGrad scope;
  const Collect all(*this);
  const NamedTensors named = under_first_names(given, all.aliases);
  std::unordered_map<std::string, const Tensor*> source;
  for (const auto& [name, t] : named) source.emplace(name, &t);
  for (const Member& x : all.members) {
    const auto it = source.find(x.name);
    if (it != source.end()) x.tensor.copy_(*it->second);
  }
}

StateDiff Module::load_state(const NamedTensors& given, bool strict) {
  StateDiff diff = check_state(given);
  if (strict ? !diff.ok() : !diff.mismatched.empty()) {
    throw ShapeError("load_state: the state does not fit: " + diff.str() +
                     "; load it into the module it was saved from");
  }
  assign_state(given);
  return diff;
}

}  // namespace fovea
