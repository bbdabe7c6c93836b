#include "examples/glimpse/train.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "examples/common/interrupt.h"
#include "examples/common/next_command.h"
#include "examples/common/output.h"
#include "fovea/core/error.h"
#include "fovea/ops/ops.h"
#include "fovea/optim/clip.h"

namespace fovea::glimpse {
namespace {

constexpr int64_t kTestBatch = 500;

// Adam divides a gradient by its size: where looking anywhere earns the same reward, the location
// network would be driven by noise at the full rate, until tanh holds it in a corner.
ParamGroups groups(const RecurrentAttention& model, const Config& c) {
  ParamGroup slow, rest;
  slow.lr = c.lr * c.location_lr;
  for (auto& p : model.named_parameters()) {
    (p.first.starts_with("location.") ? slow : rest).params.push_back(std::move(p));
  }
  return std::vector<ParamGroup>{std::move(rest), std::move(slow)};
}

}  // namespace

Trainer::Trainer(RecurrentAttention& model, Datasets& data, const Config& c,
                 const examples::CommonFlags& flags)
    : model_(model),
      data_(data),
      c_(c),
      flags_(flags),
      checkpoint_(examples::in_folder(flags.out, "checkpoint.safetensors")),
      adam_(groups(model, c), {.lr = c.lr}) {
  run_.parts = {{"model", &model_}, {"optimizer", &adam_}, {"history", &history_}};
  if (c.schedule == "plateau") {
    // Half the learning rate whenever three epochs have brought nothing.
    plateau_.emplace(adam_, PlateauOptions{.factor = 0.5, .patience = 2});
    run_.parts.emplace_back("schedule", &*plateau_);
  } else {
    const int64_t steps = (data.train.count() + c.batch - 1) / c.batch * c.epochs;
    cosine_.emplace(adam_, CosineLR{.steps = steps});
    run_.parts.emplace_back("schedule", &*cosine_);
  }
  if (!flags.resume.empty()) resume();
  run_.metadata = Config(c).recorded().to_metadata();
}

void Trainer::resume() {
  load_checkpoint(flags_.resume, run_);
  if (run_.progress.position > data_.train.count()) {
    throw IoError(
        fmt::format("{} stopped at image {} of an epoch, --data has {}: these are other images",
                    flags_.resume, run_.progress.position, data_.train.count()));
  }
}

int64_t Trainer::done() const {
  return run_.progress.epoch * data_.train.count() + run_.progress.position;
}

History Trainer::train() {
  examples::ProgressBar bar(c_.epochs * data_.train.count(), done(), flags_.quiet);
  for (; run_.progress.epoch < c_.epochs; ++run_.progress.epoch) epoch(bar);
  return history_;
}

void Trainer::epoch(examples::ProgressBar& bar) {
  Progress& p = run_.progress;
  Generator g = generator_for(c_.seed, Purpose::order, p.epoch);
  const Tensor order = randperm(data_.train.count(), &g);
  data_.train.set_epoch(p.epoch);
  watch_.lap();
  while (p.position < data_.train.count()) {
    step(order);
    if (bar.due()) show(bar);
    if (examples::interrupted()) stop(bar);
  }
  const double error = error_rate(model_, data_.valid, c_, Purpose::valid);
  if (examples::interrupted()) stop(bar);
  if (plateau_) plateau_->step(error);
  history_.running.seconds += watch_.lap();
  history_.add(error);
  bar.line(fmt::format(
      "epoch {:{}}/{}  loss {:.4f}  train accuracy {:5.2f} %  validation {:5.2f} %  {:.1f} s",
      p.epoch + 1, fmt::formatted_size("{}", c_.epochs), c_.epochs, history_.loss.back(),
      100 * history_.train_accuracy.back(), 100 * (1 - error), history_.seconds.back()));
  p.position = 0;
  save(p.epoch + 1);
}

void Trainer::step(const Tensor& order) {
  Progress& p = run_.progress;
  const int64_t n = std::min(c_.batch, data_.train.count() - p.position);
  const Batch batch = data_.train.batch(order.data<int64_t>() + p.position, n, c_.duplicates);
  Generator g = generator_for(c_.seed, Purpose::train_looks, p.step);
  const HybridLoss loss = hybrid_loss(model_.look(batch.images, g), batch.labels,
                                      {.std = c_.std, .policy_weight = c_.policy_weight});
  const double action = loss.action.item();
  if (!std::isfinite(action)) {
    throw ValueError(
        fmt::format("the loss is {} in epoch {}; a smaller --lr may help", action, p.epoch + 1));
  }
  adam_.zero_grad();
  loss.total.backward();
  clip_grad_norm(adam_.parameters(), c_.clip);
  adam_.step();
  if (cosine_) cosine_->step();
  ++p.step;
  p.position += n;

  const auto weight = static_cast<double>(n);
  history_.running.loss += weight * action;
  history_.running.correct += weight * mean(loss.reward).item();
  history_.running.seen += weight;
}

void Trainer::show(examples::ProgressBar& bar) const {
  const History::Running& r = history_.running;
  bar.update(
      done(), fmt::format("epoch {}/{}", run_.progress.epoch + 1, c_.epochs),
      fmt::format("loss {:.3f}  accuracy {:.1f} %", r.loss / r.seen, 100 * r.correct / r.seen));
}

// The checkpoint of a run that goes on with `epoch`.
void Trainer::save(int64_t epoch) {
  TrainingRun copy = run_;
  copy.progress.epoch = epoch;
  save_checkpoint(checkpoint_, copy);
}

void Trainer::stop(examples::ProgressBar& bar) {
  history_.running.seconds += watch_.lap();
  save(run_.progress.epoch);
  bar.line("");
  examples::leave(fmt::format("in epoch {} of {}", run_.progress.epoch + 1, c_.epochs),
                  {"--resume", checkpoint_, "--out", flags_.out});
}

Datasets load_datasets(const Config& c) {
  const Task task = parse_task(c.dataset);
  const ImageDataset train = load_image_dataset(c.data, true);
  const ImageDataset test = load_image_dataset(c.data, false);
  const int64_t n = train.labels.numel(), held_out = std::min<int64_t>(n / 10, 5000);
  if (held_out == 0) {
    throw IoError(
        fmt::format("--data {}: {} training images; a tenth of them is held out for "
                    "validation, so 10 is the least",
                    c.data, n));
  }
  return {.train = Images(part(train, 0, n - held_out), task, c.seed, Purpose::train_images),
          .valid = Images(part(train, n - held_out, held_out), task, c.seed, Purpose::valid),
          .test = Images(test, task, c.seed, Purpose::test)};
}

double error_rate(const RecurrentAttention& model, const Images& images, const Config& c,
                  Purpose purpose) {
  const NoGrad scope;
  int64_t wrong = 0;
  for (int64_t first = 0; first < images.count(); first += kTestBatch) {
    const Batch batch = images.range(first, kTestBatch);
    Tensor probs;
    // Beside the streams that place the images.
    Generator g = generator_for(c.seed, purpose, first / kTestBatch + 1);
    for (int64_t m = 0; m < c.mc_samples; ++m) {
      const Tensor p = exp(model.look(batch.images, g).log_probs);
      probs = m == 0 ? p : probs + p;
    }
    wrong += sum(argmax(probs, -1) != batch.labels).item<int64_t>();
  }
  return static_cast<double>(wrong) / static_cast<double>(images.count());
}

}  // namespace fovea::glimpse
