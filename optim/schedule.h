// Learning rates over time.
//
//     Schedule schedule(optimizer, WarmUp{.steps = 100, .after = CosineLR{.steps = 10000}});
//     for (...) { ...; optimizer.step(); schedule.step(); }
//
// A rule is a function (t, base) -> learning rate, where t counts step() from 0 and base is the
// learning rate of the group when the schedule was made: any lambda will do.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "fovea/nn/state.h"

namespace fovea {

class Optimizer;

using LrRule = std::function<double(int64_t t, double base)>;

/// base * gamma^floor(t / step_size). ValueError unless step_size >= 1.
struct StepLR {
  int64_t step_size = 1;
  double gamma = 0.1;
  double operator()(int64_t t, double base) const;
};

/// eta_min + (base - eta_min) (1 + cos(pi t / steps)) / 2 for t <= steps, then eta_min. Loshchilov
/// & Hutter 2016, eq. 5. ValueError unless steps >= 1.
struct CosineLR {
  int64_t steps = 1;
  double eta_min = 0;
  double operator()(int64_t t, double base) const;
};

/// base * (s + (1 - s) t / steps) for t < steps, with s = start_factor; then `after`, on a clock
/// that starts at 0, or base when there is none. ValueError unless steps >= 1.
struct WarmUp {
  int64_t steps = 1;
  std::optional<double> start_factor = {};  ///< default 1 / steps: the first step moves already
  LrRule after = {};
  double operator()(int64_t t, double base) const;
};

/// Sets the learning rate of every group by a rule: at once, then at each step(). The optimiser
/// must outlive it.
class Schedule : public Stateful {
 public:
  Schedule(Optimizer& optimizer, LrRule rule);
  void step();
  int64_t t() const { return t_; }

  /// "t" i64 and "base_lr" f64 (groups). Loading sets the learning rates as well.
  NamedTensors state() const override;
  StateDiff check_state(const NamedTensors& given) const override;
  void assign_state(const NamedTensors& given) override;

 private:
  void apply();
  Optimizer* optimizer_;
  LrRule rule_;
  int64_t t_ = 0;
  std::vector<double> base_;
};

enum class PlateauMode { min, max };
enum class ThresholdMode { rel, abs };

struct PlateauOptions {
  PlateauMode mode = PlateauMode::min;  ///< whether a better metric is smaller or larger
  double factor = 0.1;                  ///< new lr = lr * factor; in [0, 1)
  int64_t patience = 10;                ///< this many bad epochs are forgiven
  double threshold = 1e-4;              ///< better means by more than this
  ThresholdMode threshold_mode = ThresholdMode::rel;  ///< of the best value, or absolute
  int64_t cooldown = 0;  ///< epochs after a reduction that do not count as bad
  double min_lr = 0;
  double eps = 1e-8;  ///< a smaller reduction is not made
};

/// Multiplies the learning rates by `factor` when the metric has stopped getting better: the
/// semantics of torch.optim.lr_scheduler.ReduceLROnPlateau. A NaN metric counts as bad.
class ReduceLROnPlateau : public Stateful {
 public:
  /// ValueError unless 0 <= factor < 1, patience >= 0, cooldown >= 0 and threshold >= 0.
  explicit ReduceLROnPlateau(Optimizer& optimizer, const PlateauOptions& o = {});
  /// Once an epoch.
  void step(double metric);
  double best() const { return best_; }

  /// "best" f64, "bad_epochs" and "cooldown" i64. The learning rates are the optimiser's state.
  NamedTensors state() const override;
  StateDiff check_state(const NamedTensors& given) const override;
  void assign_state(const NamedTensors& given) override;

 private:
  bool better(double metric) const;
  Optimizer* optimizer_;
  PlateauOptions o_;
  double best_;
  int64_t bad_ = 0, cooldown_ = 0;
};

}  // namespace fovea
