#include "examples/seq2seq/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "examples/common/interrupt.h"
#include "examples/common/next_command.h"
#include "examples/common/output.h"
#include "examples/seq2seq/train.h"
#include "fovea/core/error.h"
#include "fovea/io/file.h"
#include "fovea/io/metrics.h"
#include "fovea/io/safetensors.h"
#include "fovea/nn/serialize.h"
#include "fovea/ops/ops.h"
#include "fovea/viz/curve.h"

namespace fovea::seq2seq {
namespace {

struct Result {
  std::string attention;
  int64_t parameters;
  double seconds;
  Scores scores;
  std::vector<double> epoch, wrong;  // validation: the share of sequences that is wrong
};

// The share that is right among the shorter, the middle and the longer third of the lengths.
std::array<double, 3> thirds(const Scores& s) {
  std::array<double, 3> right{};
  const size_t n = s.length.size();
  for (size_t third = 0; third < 3; ++third) {
    double sum = 0, count = 0;
    for (size_t i = n * third / 3; i < std::max(n * (third + 1) / 3, n * third / 3 + 1); ++i) {
      if (i >= n) break;
      sum += s.exact[i] * s.sequences[i];
      count += s.sequences[i];
    }
    right[third] = sum / count;
  }
  return right;
}

std::string third_name(const Scores& s, size_t third) {
  const size_t n = s.length.size(), first = n * third / 3;
  const size_t last = std::max(n * (third + 1) / 3, first + 1) - 1;
  return fmt::format("{}-{}", s.length[first], s.length[last]);
}

void print_table(const std::vector<Result>& all) {
  const Scores& first = all.front().scores;
  fmt::print("\n{:<12} {:>10} {:>8} {:>10} {:>9} {:>7}   right by length of the source\n",
             "attention", "parameters", "seconds", "perplexity", "error", "right");
  fmt::print("{:61}", "");
  for (size_t third = 0; third < 3; ++third) fmt::print("{:>8}", third_name(first, third));
  fmt::print("\n");
  for (const Result& r : all) {
    fmt::print("{:<12} {:>10} {:>8.1f} {:>10.4g} {:>7.2f} % {:>5.1f} %", r.attention, r.parameters,
               r.seconds, r.scores.perplexity, 100 * r.scores.token_error_rate,
               100 * (1 - r.scores.sequence_error_rate));
    for (const double share : thirds(r.scores)) fmt::print(" {:>5.1f} %", 100 * share);
    fmt::print("\n");
  }
}

void write_results(const std::string& folder, const Config& c, const std::vector<Result>& all) {
  Metrics m;
  m.set("program", "seq2seq --compare");
  m.set("task", c.task);
  m.set("epochs", c.epochs);
  m.set("seed", static_cast<int64_t>(c.seed));
  Panel learning{
      .title = "validation", .x_label = "epoch", .y_label = "sequences wrong, %", .series = {}};
  Panel lengths{
      .title = "test", .x_label = "length of the source", .y_label = "right, %", .series = {}};
  const auto percent = [](std::vector<double> x) {
    for (double& v : x) v *= 100;
    return x;
  };
  for (const Result& r : all) {
    const auto key = [&](const char* name) { return fmt::format("{}_{}", r.attention, name); };
    m.set(key("exact_match"), 1 - r.scores.sequence_error_rate);
    m.set(key("token_error_rate"), r.scores.token_error_rate);
    m.set(key("perplexity"), r.scores.perplexity);
    m.set(key("train_seconds"), r.seconds);
    m.set(key("parameters"), r.parameters);
    m.set(key("length"), r.scores.length);
    m.set(key("exact_match_by_length"), r.scores.exact);
    m.set(key("valid_wrong_by_epoch"), r.wrong);
    learning.series.push_back({r.attention, r.epoch, percent(r.wrong)});
    lengths.series.push_back({r.attention, r.scores.length, percent(r.scores.exact)});
  }
  m.write(examples::in_folder(folder, "compare.json"));
  write_file_atomically(
      examples::in_folder(folder, "compare.svg"),
      draw_curves({learning, lengths}, {.title = fmt::format("seq2seq: {}", c.task)}));
}

// Whether a run with these very flags and data has left this checkpoint.
bool fits(const std::string& file, Config c) {
  std::error_code error;
  if (!std::filesystem::exists(file, error)) return false;
  Config before;
  try {
    before.recorded().read(read_safetensors(file).metadata, file);
  } catch (const IoError&) {
    return false;
  }
  return c.recorded().conflict(before.recorded()).empty() && before.data == c.data;
}

}  // namespace

int compare(const Arguments& a) {
  const Dataset dataset = load_dataset(a.config);
  if (!a.common.quiet) fmt::print("{}\n", dataset.report);
  examples::prepare_out(a.common.out);
  examples::catch_interrupts();
  const HeldOut test = tested(a.config, dataset);
  std::vector<Result> all;
  for (const std::string& attention : a.compare) {
    Config c = a.with_attention(attention);
    remember(c, dataset);
    examples::CommonFlags flags = a.common;
    flags.out = examples::in_folder(a.common.out, attention);
    examples::prepare_out(flags.out);
    const std::string checkpoint = examples::in_folder(flags.out, "checkpoint.safetensors");
    if (fits(checkpoint, c)) flags.resume = checkpoint;
    manual_seed(c.seed);
    const auto model = make_model(c, dataset.source.size(), dataset.target.size());
    Trainer trainer(*model, dataset, c, flags);
    if (!a.common.quiet) {
      fmt::print("{}{}\n", attention, flags.resume.empty() ? "" : ", from " + checkpoint);
    }
    if (!trainer.train()) {
      if (!all.empty()) print_table(all);
      examples::leave(fmt::format("{} of {}", trainer.where(), attention), a.command);
    }
    model->eval();
    save(*model, examples::in_folder(flags.out, "model.safetensors"), c.recorded().to_metadata());
    all.push_back({attention, model->numel(), trainer.train_seconds(),
                   evaluate(*model, dataset, test, c, c.decode), trainer.epochs().column("epoch"),
                   trainer.epochs().column("valid_wrong")});
    write_results(a.common.out, a.config, all);
  }
  print_table(all);
  fmt::print("wrote compare.json, compare.svg to {}\n", a.common.out);
  return 0;
}

}  // namespace fovea::seq2seq
