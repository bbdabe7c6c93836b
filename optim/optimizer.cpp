#include "fovea/optim/optimizer.h"

#include <fmt/format.h>

#include <cmath>
#include <unordered_map>
#include <unordered_set>

#include "fovea/core/error.h"
#include "fovea/core/parallel.h"
#include "fovea/nn/detail/numbers.h"
#include "fovea/ops/ops.h"

namespace fovea {
namespace {

// Elements of one task: 64 KiB an array in f32, so that what one pass touches stays in the cache.
constexpr int64_t kChunk = 16384;

void check_param(const char* op, const std::string& name, const Tensor& t) {
  if (!t.defined()) throw ShapeError(fmt::format("{}: parameter `{}` is undefined", op, name));
  if (!t.is_floating()) {
    throw DTypeError(fmt::format("{}: parameter `{}` is {}; only f32 and f64 can be trained", op,
                                 name, fovea::name(t.dtype())));
  }
  if (!t.is_leaf()) {
    throw GraphError(fmt::format(
        "{}: parameter `{}` {} was made by an operation; pass the leaf it was computed from", op,
        name, t.shape().str()));
  }
  if (t.overlaps_itself()) {
    throw ShapeError(
        fmt::format("{}: parameter `{}` {} shows elements more than once; pass a contiguous() copy",
                    op, name, t.shape().str()));
  }
}

Tensor scalar_i64(int64_t v) { return full({}, v, i64); }

// NaN passes: a run that has diverged may have saved it.
void check_squares(StateDiff& diff, const NamedTensors& given, const std::string& name) {
  const NoGrad scope;
  const Tensor t = find(given, name);
  if (!t.defined() || !t.is_floating() || t.numel() == 0) return;
  if (any(t < 0)) {
    diff.mismatched.push_back(fmt::format("{}: holds negative numbers, need squares", name));
  }
}

}  // namespace

namespace detail {

void check_hyper(const char* op, const char* arg, double value, bool below_one) {
  if (value >= 0 && std::isfinite(value) && (!below_one || value < 1)) return;
  throw ValueError(fmt::format("{}: {} = {}; need a number {}", op, arg, value,
                               below_one ? "in [0, 1)" : ">= 0"));
}

}  // namespace detail

ParamGroups::ParamGroups(const Tensors& params) : list(1) {
  for (size_t i = 0; i < params.size(); ++i) {
    list[0].params.emplace_back(std::to_string(i), params[i]);
  }
}

Optimizer::Optimizer(const char* name, ParamGroups groups, double lr, double weight_decay,
                     std::vector<Slot> slots)
    : name_(name), slots_(std::move(slots)) {
  std::unordered_map<const detail::TensorImpl*, size_t> group_of;
  std::unordered_set<std::string> names;
  for (ParamGroup& g : groups.list) {
    Group& group = groups_.emplace_back();
    group.lr = g.lr.value_or(lr);
    group.weight_decay = g.weight_decay.value_or(weight_decay);
    detail::check_hyper(name, "lr", group.lr);
    detail::check_hyper(name, "weight_decay", group.weight_decay);
    for (auto& [param_name, t] : g.params) {
      check_param(name, param_name, t);
      const auto [it, fresh] = group_of.try_emplace(t.impl(), groups_.size());
      if (!fresh && it->second == groups_.size()) continue;
      if (!fresh) {
        throw ValueError(
            fmt::format("{}: parameter `{}` is in two groups; list it once", name, param_name));
      }
      if (!names.insert(param_name).second) {
        throw ValueError(fmt::format(
            "{}: two parameters are called `{}`; the state is kept by name, so give each its own",
            name, param_name));
      }
      group.params.push_back({std::move(param_name), std::move(t), 0, {}});
    }
  }
}

void Optimizer::make_slots(Param& p) const {
  for (size_t i = 0; i < slots_.size(); ++i) {
    if (!p.slots[i].defined()) p.slots[i] = zeros(p.tensor.shape(), p.tensor.dtype());
  }
}

void Optimizer::step() {
  const NoGrad scope;
  std::vector<Update> updates;
  Tensors grads;  // keeps contiguous copies alive
  struct Copied {
    Tensor param, work;
  };
  std::vector<Copied> copied;
  for (Group& group : groups_) {
    for (Param& p : group.params) {
      if (!p.tensor.requires_grad()) continue;
      Tensor g = p.tensor.grad();
      if (!g.defined()) continue;
      if (!g.is_contiguous()) g = contiguous(g);
      Tensor work = p.tensor;
      if (!work.is_contiguous()) {
        work = contiguous(work.detach());
        copied.push_back({p.tensor, work});
      }
      make_slots(p);
      ++p.step;
      Update u{p.tensor.dtype(), p.tensor.numel(), work.raw(),        g.raw(), {},
               p.step,           group.lr,         group.weight_decay};
      for (size_t i = 0; i < slots_.size(); ++i) u.slots[i] = p.slots[i].raw();
      grads.push_back(std::move(g));
      updates.push_back(u);
      p.tensor.bump_version();
    }
  }

  // A piece is at most a chunk of one parameter; a task is a run of pieces that make up a chunk, so
  // that a hundred biases cost one task. Borders follow from the sizes alone.
  struct Piece {
    size_t update;
    int64_t begin, end;
  };
  std::vector<Piece> pieces;
  std::vector<size_t> tasks{0};  // the first piece of each, and the end
  int64_t room = kChunk;
  for (size_t i = 0; i < updates.size(); ++i) {
    for (int64_t begin = 0; begin < updates[i].n; begin += kChunk) {
      const int64_t end = std::min(begin + kChunk, updates[i].n);
      if (room < end - begin) {
        tasks.push_back(pieces.size());
        room = kChunk;
      }
      room -= end - begin;
      pieces.push_back({i, begin, end});
    }
  }
  tasks.push_back(pieces.size());
  parallel_chunks(static_cast<int64_t>(tasks.size()) - 1, [&](int64_t task) {
    for (size_t i = tasks[static_cast<size_t>(task)]; i < tasks[static_cast<size_t>(task) + 1];
         ++i) {
      update(updates[pieces[i].update], pieces[i].begin, pieces[i].end);
    }
  });
  for (const Copied& c : copied) c.param.copy_(c.work);
}

void Optimizer::zero_grad() const {
  for (const Group& g : groups_) {
    for (const Param& p : g.params) {
      if (p.tensor.requires_grad()) p.tensor.zero_grad();
    }
  }
}

double Optimizer::lr(int64_t group) const {
  if (group < 0 || group >= groups()) {
    throw IndexError(fmt::format("{}: there is no group {}, there are {}", name_, group, groups()));
  }
  return groups_[static_cast<size_t>(group)].lr;
}

void Optimizer::set_lr(double lr) {
  for (int64_t i = 0; i < groups(); ++i) set_lr(lr, i);
}

void Optimizer::set_lr(double lr, int64_t group) {
  detail::check_hyper(name_, "lr", lr);
  (void)this->lr(group);  // checks the index
  groups_[static_cast<size_t>(group)].lr = lr;
}

Tensors Optimizer::parameters() const {
  Tensors list;
  for (const Group& g : groups_) {
    for (const Param& p : g.params) list.push_back(p.tensor);
  }
  return list;
}

NamedTensors Optimizer::state() const {
  NamedTensors list;
  for (size_t i = 0; i < groups_.size(); ++i) {
    list.emplace_back(fmt::format("group.{}.lr", i), full({}, groups_[i].lr, f64));
  }
  for (const Group& g : groups_) {
    for (const Param& p : g.params) {
      list.emplace_back(p.name + ".step", scalar_i64(p.step));
      if (p.step == 0) continue;
      for (size_t i = 0; i < slots_.size(); ++i) {
        list.emplace_back(p.name + "." + slots_[i].name, p.slots[i]);
      }
    }
  }
  return list;
}

StateDiff Optimizer::check_state(const NamedTensors& given) const {
  NamedTensors wanted;
  StateDiff bad;
  for (size_t i = 0; i < groups_.size(); ++i) {
    const std::string lr_name = fmt::format("group.{}.lr", i);
    wanted.emplace_back(lr_name, full({}, 0, f64));
    detail::check_rate(bad, given, lr_name);
  }
  for (const Group& g : groups_) {
    for (const Param& p : g.params) {
      const std::string step_name = p.name + ".step";
      wanted.emplace_back(step_name, scalar_i64(0));
      detail::check_count(bad, given, step_name);
      const Tensor step = find(given, step_name);
      if (!step.defined() || step.dtype() != i64 || step.numel() != 1) continue;
      if (step.item<int64_t>() <= 0) continue;
      for (const Slot& slot : slots_) {
        const std::string slot_name = p.name + "." + slot.name;
        wanted.emplace_back(slot_name, p.tensor);
        if (slot.squares) check_squares(bad, given, slot_name);
      }
    }
  }
  StateDiff diff = compare_states(wanted, given);
  diff.add("", bad);
  return diff;
}

void Optimizer::assign_state(const NamedTensors& given) {
  const NoGrad scope;
  for (size_t i = 0; i < groups_.size(); ++i) {
    groups_[i].lr = find(given, fmt::format("group.{}.lr", i)).item();
  }
  for (Group& g : groups_) {
    for (Param& p : g.params) {
      p.step = find(given, p.name + ".step").item<int64_t>();
      if (p.step == 0) {
        p.slots.fill(Tensor());
        continue;
      }
      make_slots(p);
      for (size_t i = 0; i < slots_.size(); ++i) {
        p.slots[i].copy_(find(given, p.name + "." + slots_[i].name));
      }
    }
  }
}

}  // namespace fovea
