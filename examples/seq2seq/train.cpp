#include "examples/seq2seq/train.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "examples/common/interrupt.h"
#include "examples/common/output.h"
#include "examples/common/train_step.h"
#include "fovea/ops/ops.h"

namespace fovea::seq2seq {
namespace {

constexpr int64_t kValid = 500;       // sequences looked at after an epoch, at most
constexpr double kSaveSeconds = 120;  // between checkpoints inside an epoch

double total(const examples::TrainingLog& log, const char* column) {
  const std::vector<double> all = log.column(column);
  return std::accumulate(all.begin(), all.end(), 0.0);
}

}  // namespace

Trainer::Trainer(EncoderDecoder& model, const Dataset& dataset, const Config& c,
                 const examples::CommonFlags& flags)
    : model_(model),
      dataset_(dataset),
      valid_(dataset.valid.spread(kValid)),
      c_(c),
      quiet_(flags.quiet),
      checkpoint_(examples::in_folder(flags.out, "checkpoint.safetensors")),
      batches_(dataset.train, {.batch_size = c.batch, .window = 20, .seed = c.seed}),
      loader_(batches_),
      adam_(model.named_parameters(),
            {.lr = c.lr, .beta2 = c.beta2, .weight_decay = c.weight_decay}),
      steps_(c.epochs * batches_.count(0)),
      schedule_(adam_, examples::warmup_cosine(steps_, std::min(c.warm_up, steps_ / 2), c.min_lr)) {
  run_.parts = {{"model", &model_},
                {"optimizer", &adam_},
                {"schedule", &schedule_},
                {"steps", &sums_},
                {"epochs", &epochs_}};
  if (!flags.resume.empty()) load_checkpoint(flags.resume, run_);
  loader_.seek({run_.progress.epoch, run_.progress.position});
  run_.metadata = Config(c).recorded().to_metadata();
}

bool Trainer::train() {
  examples::ProgressBar bar(steps_, run_.progress.step, quiet_);
  watch_.lap();
  while (run_.progress.epoch < c_.epochs) {
    while (const auto batch = loader_.next()) {
      step(*batch);
      if (bar.due()) {
        bar.update(run_.progress.step,
                   fmt::format("epoch {}/{}", run_.progress.epoch + 1, c_.epochs),
                   fmt::format("loss {:.3f}", total(sums_, "loss") / total(sums_, "tokens")));
      }
      if (examples::interrupted() && run_.progress.step < steps_) {
        bar.line("");
        save();
        return false;
      }
      if (since_save_ > kSaveSeconds) save();
    }
    end_epoch(bar);
  }
  return true;
}

void Trainer::step(const PairBatch& batch) {
  const double done = static_cast<double>(run_.progress.step) / static_cast<double>(steps_);
  adam_.zero_grad();
  const Tensor logits =
      model_.logits(batch.source, batch.target_in, {.probability = c_.sampling * done});
  const Tensor loss =
      cross_entropy(logits, batch.target_out,
                    {.ignore_index = Vocabulary::pad, .label_smoothing = c_.label_smoothing});
  const double value = examples::train_step(loss, adam_, schedule_, c_.clip);
  ++run_.progress.step;
  run_.progress.position = loader_.position().batch;
  const auto tokens = static_cast<double>(batch.target_tokens);
  const double seconds = watch_.lap();
  since_save_ += seconds;
  sums_.add({value * tokens, tokens, seconds});
}

void Trainer::end_epoch(examples::ProgressBar& bar) {
  run_.progress.epoch = loader_.position().epoch;
  run_.progress.position = 0;
  model_.eval();
  const Scores s = evaluate(model_, dataset_, valid_, c_, {});
  model_.train();
  const double tokens = total(sums_, "tokens"), loss = total(sums_, "loss") / tokens;
  epochs_.add({static_cast<double>(run_.progress.epoch), loss, s.perplexity, s.token_error_rate,
               s.sequence_error_rate, total(sums_, "seconds"), tokens});
  sums_ = examples::TrainingLog({"loss", "tokens", "seconds"});
  bar.line(fmt::format(
      "epoch {:{}}/{}  train loss {:.4f}  validation: perplexity {:.4g}, {:.2f} % of tokens and "
      "{:.1f} % of sequences wrong",
      run_.progress.epoch, fmt::formatted_size("{}", c_.epochs), c_.epochs, loss, s.perplexity,
      100 * s.token_error_rate, 100 * s.sequence_error_rate));
  save();
}

void Trainer::save() {
  save_checkpoint(checkpoint_, run_);
  since_save_ = 0;
  watch_.lap();  // training alone is timed
}

std::string Trainer::where() const {
  return fmt::format("at step {} of {}", run_.progress.step, steps_);
}

double Trainer::train_seconds() const { return total(epochs_, "seconds"); }
double Trainer::train_tokens() const { return total(epochs_, "tokens"); }

}  // namespace fovea::seq2seq
