#include "examples/gpt/train.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "examples/common/interrupt.h"
#include "examples/common/next_command.h"
#include "examples/common/output.h"
#include "examples/common/train_step.h"
#include "fovea/ops/ops.h"

namespace fovea::char_gpt {
namespace {

// Matrices decay, and vectors (the weights of norms) do not: as in nanoGPT.
ParamGroups groups(const GPT& model, const Config& c) {
  ParamGroup matrices, vectors;
  matrices.weight_decay = c.weight_decay;
  vectors.weight_decay = 0;
  for (auto& p : model.named_parameters()) {
    (p.second.dim() >= 2 ? matrices : vectors).params.push_back(std::move(p));
  }
  return std::vector<ParamGroup>{std::move(matrices), std::move(vectors)};
}

}  // namespace

std::string write_text(const GPT& model, const Characters& characters, const std::string& prompt,
                       int64_t tokens, const SampleOptions& o, uint64_t seed) {
  Generator g(seed);
  const Tensor ids = unsqueeze(characters.encode(prompt), 0);
  return characters.decode(
      generate(model, ids, {.max_tokens = tokens, .sample = o, .generator = &g}));
}

Trainer::Trainer(GPT& model, const Corpus& corpus, const Config& c,
                 const examples::CommonFlags& flags)
    : model_(model),
      corpus_(corpus),
      c_(c),
      flags_(flags),
      checkpoint_(examples::in_folder(flags.out, "checkpoint.safetensors")),
      windows_(corpus.train, c.batch, c.context, c.seed),
      adam_(groups(model, c), {.lr = c.lr, .beta2 = c.beta2}),
      schedule_(adam_, examples::warmup_cosine(c.steps, c.warm_up, c.min_lr)) {
  run_.parts = {{"model", &model_},
                {"optimizer", &adam_},
                {"schedule", &schedule_},
                {"steps", &steps_},
                {"evaluations", &evaluations_}};
  if (!flags.resume.empty()) load_checkpoint(flags.resume, run_);
  run_.metadata = Config(c).recorded().to_metadata();
}

void Trainer::train() {
  examples::ProgressBar bar(c_.steps, run_.progress.step, flags_.quiet);
  watch_.lap();
  while (run_.progress.step < c_.steps) {
    step();
    const int64_t done = run_.progress.step;
    if (bar.due()) {
      bar.update(done, fmt::format("step {}/{}", done, c_.steps),
                 fmt::format("loss {:.3f}", recent_loss(20)));
    }
    if (done % c_.eval_every == 0 || done == c_.steps) evaluate(bar);
    if (examples::interrupted() && done < c_.steps) stop(bar);
  }
}

void Trainer::step() {
  const Windows w = windows_.at(run_.progress.step);
  adam_.zero_grad();
  const Tensor loss = cross_entropy(model_(w.ids), w.next);
  const double value = examples::train_step(loss, adam_, schedule_, c_.clip);
  ++run_.progress.step;
  steps_.add({value, watch_.lap()});
}

// The mean of the last steps.
double Trainer::recent_loss(size_t steps) const {
  const std::vector<double> all = steps_.column("loss");
  const size_t n = std::min(steps, all.size());
  double sum = 0;
  for (size_t i = all.size() - n; i < all.size(); ++i) sum += all[i];
  return sum / static_cast<double>(n);
}

void Trainer::evaluate(examples::ProgressBar& bar) {
  constexpr int64_t kWindows = 640;
  const int64_t done = run_.progress.step;
  const int64_t since = (done - 1) % c_.eval_every + 1;
  const double train_loss = recent_loss(static_cast<size_t>(since));
  model_.eval();
  const double valid_loss = text_loss(model_, corpus_.valid, kWindows);
  const auto row = {static_cast<double>(done), train_loss, valid_loss};
  evaluations_.add(row);
  bar.line(fmt::format("step {:{}}/{}  train loss {:.4f}  validation loss {:.4f}", done,
                       fmt::formatted_size("{}", c_.steps), c_.steps, train_loss, valid_loss));
  if (!flags_.quiet) {
    std::string text = write_text(model_, corpus_.characters,
                                  corpus_.characters.decode(corpus_.valid.narrow(0, 0, 1)), 80,
                                  {.temperature = 0.8}, c_.seed + static_cast<uint64_t>(done));
    std::replace(text.begin(), text.end(), '\n', '|');
    bar.line("    " + text);
  }
  model_.train();
  save_checkpoint(checkpoint_, run_);
  watch_.lap();  // training alone is timed
}

void Trainer::stop(examples::ProgressBar& bar) {
  save_checkpoint(checkpoint_, run_);
  bar.line("");
  examples::leave(fmt::format("at step {} of {}", run_.progress.step, c_.steps),
                  {"--resume", checkpoint_, "--out", flags_.out});
}

}  // namespace fovea::char_gpt
