#include "fovea/optim/schedule.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "fovea/core/error.h"
#include "fovea/nn/detail/numbers.h"
#include "fovea/ops/ops.h"
#include "fovea/optim/optimizer.h"

namespace fovea {
namespace {

void check_steps(const char* op, const char* arg, int64_t steps) {
  if (steps < 1) throw ValueError(fmt::format("{}: {} = {}; need at least 1", op, arg, steps));
}

Tensor scalar(double v) { return full({}, v, f64); }
Tensor scalar(int64_t v) { return full({}, v, i64); }

}  // namespace

double StepLR::operator()(int64_t t, double base) const {
  check_steps("StepLR", "step_size", step_size);
  return base * std::pow(gamma, static_cast<double>(t / step_size));
}

double CosineLR::operator()(int64_t t, double base) const {
  check_steps("CosineLR", "steps", steps);
  if (t >= steps) return eta_min;
  const double turn = std::numbers::pi * static_cast<double>(t) / static_cast<double>(steps);
  return eta_min + (base - eta_min) * (1 + std::cos(turn)) / 2;
}

double WarmUp::operator()(int64_t t, double base) const {
  check_steps("WarmUp", "steps", steps);
  if (t >= steps) return after ? after(t - steps, base) : base;
  const double n = static_cast<double>(steps);
  const double s = start_factor.value_or(1 / n);
  return base * (s + (1 - s) * static_cast<double>(t) / n);
}

Schedule::Schedule(Optimizer& optimizer, LrRule rule)
    : optimizer_(&optimizer), rule_(std::move(rule)) {
  if (!rule_) throw ValueError("Schedule: the rule is empty; pass a function (t, base) -> lr");
  for (int64_t i = 0; i < optimizer.groups(); ++i) base_.push_back(optimizer.lr(i));
  apply();
}

void Schedule::apply() {
  for (size_t i = 0; i < base_.size(); ++i) {
    optimizer_->set_lr(rule_(t_, base_[i]), static_cast<int64_t>(i));
  }
}

void Schedule::step() {
  ++t_;
  apply();
}

NamedTensors Schedule::state() const {
  return {{"t", scalar(t_)}, {"base_lr", from_vector(base_, {static_cast<int64_t>(base_.size())})}};
}

StateDiff Schedule::check_state(const NamedTensors& given) const {
  StateDiff diff = compare_states(state(), given);
  detail::check_count(diff, given, "t");
  if (!diff.ok()) return diff;
  // Loading sets the learning rates, which the optimiser must take.
  const auto t = find(given, "t").item<int64_t>();
  for (const double base : find(given, "base_lr").to_vector()) {
    const double lr = base >= 0 && std::isfinite(base) ? rule_(t, base) : base;
    if (lr >= 0 && std::isfinite(lr)) continue;
    diff.mismatched.push_back(
        fmt::format("base_lr: holds {}, a learning rate of {} at t = {}, need a finite number >= 0",
                    base, lr, t));
  }
  return diff;
}

void Schedule::assign_state(const NamedTensors& given) {
  t_ = find(given, "t").item<int64_t>();
  base_ = find(given, "base_lr").to_vector();
  apply();
}

ReduceLROnPlateau::ReduceLROnPlateau(Optimizer& optimizer, const PlateauOptions& o)
    : optimizer_(&optimizer), o_(o) {
  if (!(o.factor >= 0 && o.factor < 1) || o.patience < 0 || o.cooldown < 0 || !(o.threshold >= 0)) {
    throw ValueError(fmt::format(
        "ReduceLROnPlateau: factor = {}, patience = {}, cooldown = {}, threshold = {}; need "
        "factor in [0, 1) and the others >= 0",
        o.factor, o.patience, o.cooldown, o.threshold));
  }
  const double inf = std::numeric_limits<double>::infinity();
  best_ = o.mode == PlateauMode::min ? inf : -inf;
}

bool ReduceLROnPlateau::better(double metric) const {
  const bool rel = o_.threshold_mode == ThresholdMode::rel;
  if (o_.mode == PlateauMode::min) {
    return metric < (rel ? best_ * (1 - o_.threshold) : best_ - o_.threshold);
  }
  return metric > (rel ? best_ * (1 + o_.threshold) : best_ + o_.threshold);
}

void ReduceLROnPlateau::step(double metric) {
  if (better(metric)) {
    best_ = metric;
    bad_ = 0;
  } else {
    ++bad_;
  }
  if (cooldown_ > 0) {
    --cooldown_;
    bad_ = 0;
  }
  if (bad_ <= o_.patience) return;
  for (int64_t i = 0; i < optimizer_->groups(); ++i) {
    const double before = optimizer_->lr(i);
    const double after = std::max(before * o_.factor, o_.min_lr);
    if (before - after > o_.eps) optimizer_->set_lr(after, i);
  }
  cooldown_ = o_.cooldown;
  bad_ = 0;
}

NamedTensors ReduceLROnPlateau::state() const {
  return {{"best", scalar(best_)}, {"bad_epochs", scalar(bad_)}, {"cooldown", scalar(cooldown_)}};
}

StateDiff ReduceLROnPlateau::check_state(const NamedTensors& given) const {
  StateDiff diff = compare_states(state(), given);
  detail::check_count(diff, given, "bad_epochs");
  detail::check_count(diff, given, "cooldown");
  if (diff.ok() && std::isnan(find(given, "best").item())) {
    diff.mismatched.emplace_back("best: is nan, which is never the best");
  }
  return diff;
}

void ReduceLROnPlateau::assign_state(const NamedTensors& given) {
  best_ = find(given, "best").item();
  bad_ = find(given, "bad_epochs").item<int64_t>();
  cooldown_ = find(given, "cooldown").item<int64_t>();
}

}  // namespace fovea
