// Learns to turn one sequence into another, and shows where it looked.
//
//     seq2seq --task phonemes                                how English words are spoken
//     seq2seq --task dates                                   "Sat, 3 May 1979" to 1979-05-03
//     seq2seq --task reverse --attention none                what one vector can hold
//     seq2seq --task pairs FILE                              two columns of any file
//     seq2seq --translate "fovea" --checkpoint out/seq2seq/phonemes/model.safetensors
//     seq2seq --task reverse --compare none,dot,additive     several attentions in one table
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "examples/common/interrupt.h"
#include "examples/common/next_command.h"
#include "examples/common/output.h"
#include "examples/common/program.h"
#include "examples/common/resume.h"
#include "examples/seq2seq/arguments.h"
#include "examples/seq2seq/compare.h"
#include "examples/seq2seq/show.h"
#include "examples/seq2seq/train.h"
#include "fovea/core/error.h"
#include "fovea/core/parallel.h"
#include "fovea/io/metrics.h"
#include "fovea/nn/serialize.h"
#include "fovea/ops/ops.h"
#include "fovea/viz/utf8.h"

namespace fovea::seq2seq {
namespace {

int translate_text(const Arguments& a) {
  const Config& c = a.config;
  const Vocabulary source = Vocabulary::from_text(c.source_vocabulary);
  const Vocabulary target = Vocabulary::from_text(c.target_vocabulary);
  const std::vector<std::string> tokens = split_source(c, a.text);
  if (tokens.empty()) throw examples::UsageError("--translate: needs something to translate");
  if (c.attention == "location" && static_cast<int64_t>(tokens.size()) > c.max_source) {
    throw examples::UsageError(fmt::format(
        "--translate: {} tokens; a model with --attention location reads up to {}, the longest of "
        "its data",
        tokens.size(), c.max_source));
  }
  const auto model = make_model(c, source.size(), target.size());
  examples::load_weights(*model, a.checkpoint);
  model->eval();
  Shown s = translate_and_look(*model, c, {source, target}, source.encode(tokens), c.decode);
  s.source = join_source(c, tokens);  // as typed, also where the model reads <unk>
  s.source_tokens = tokens;
  fmt::print("{}probability {:.3f}\n", text_of(s), std::exp(s.log_probability));
  std::vector<std::string> unknown;
  for (const std::string& t : tokens) {
    if (!source.contains(t)) unknown.push_back(visible_token(t));
  }
  if (!unknown.empty()) {
    fmt::print("the model was never shown: {}\n", fmt::join(unknown, " "));
  }
  return 0;
}

void write_metrics(const std::string& path, const Config& c, const Scores& s, const Trainer& t,
                   double copied, int64_t parameters) {
  Metrics m;
  m.set("program", "seq2seq");
  m.set("task", c.task);
  m.set("attention", c.attention);
  if (c.attention != "transformer") m.set("cell", c.cell);
  if (c.task == "pairs") {
    m.set("bleu", s.bleu);
    m.set("token_error_rate", s.token_error_rate);
  } else {
    m.set("per", s.token_error_rate);  // of phones, or of characters
    m.set("wer", s.sequence_error_rate);
  }
  m.set("exact_match", 1 - s.sequence_error_rate);
  m.set("perplexity", s.perplexity);
  if (!std::isnan(copied)) m.set("copied_tokens_found", copied);
  m.set("test_sequences", s.count);
  m.set("tokens_per_second", t.train_tokens() / std::max(t.train_seconds(), 1e-9));
  m.set("train_seconds", t.train_seconds());
  m.set("parameters", parameters);
  m.set("epochs", c.epochs);
  m.set("seed", static_cast<int64_t>(c.seed));
  m.set("threads", threads());
  m.set("beams", c.decode.beams);
  m.set("length", s.length);
  m.set("exact_match_by_length", s.exact);
  for (const char* column : {"train_loss", "valid_perplexity", "valid_error", "valid_wrong"}) {
    m.set(fmt::format("{}_by_epoch", column), t.epochs().column(column));
  }
  m.write(path);
}

int train(Arguments& a) {
  Config& c = a.config;
  const Dataset dataset = load_dataset(c);
  const Config before = c;
  remember(c, dataset);
  if (!a.common.resume.empty()) {
    const bool tokens = before.source_vocabulary == c.source_vocabulary &&
                        before.target_vocabulary == c.target_vocabulary &&
                        before.source_bpe == c.source_bpe && before.target_bpe == c.target_bpe;
    if (!tokens || before.data != c.data) {
      throw IoError(fmt::format("{} was trained on other {} now", a.common.resume,
                                tokens ? "data than those" : "tokens than those of the data"));
    }
  }
  manual_seed(c.seed);
  const auto model = make_model(c, dataset.source.size(), dataset.target.size());
  Trainer trainer(*model, dataset, c, a.common);
  examples::prepare_out(a.common.out);
  const auto path = [&a](const char* name) { return examples::in_folder(a.common.out, name); };
  for (const char* of_an_earlier_run : {"attention.html", "attention.png"}) {
    std::filesystem::remove(path(of_an_earlier_run));
  }
  examples::catch_interrupts();
  if (!a.common.quiet) {
    fmt::print("{}; {} pairs to learn from, {} and {} to test on\n", dataset.report,
               dataset.train.size(), dataset.valid.size(), dataset.test.size());
    fmt::print("{} and {} tokens, {} parameters, {} threads\n", dataset.source.size(),
               dataset.target.size(), model->numel(), threads());
  }
  if (!trainer.train()) {
    examples::leave(trainer.where(), {"--resume", trainer.checkpoint(), "--out", a.common.out});
  }
  model->eval();
  save(*model, path("model.safetensors"), c.recorded().to_metadata());
  const HeldOut test = tested(c, dataset);
  const Scores s = evaluate(*model, dataset, test, c, c.decode);
  const double copied = copied_found(*model, test, c);
  write_metrics(path("metrics.json"), c, s, trainer, copied, model->numel());
  const auto shown = show_some(*model, dataset, dataset.test, c, c.decode, 10);
  if (!a.common.quiet) {
    for (const Shown& one : shown) fmt::print("\n{}", text_of(one));
    fmt::print("\n");
  }
  fmt::print(
      "{}exact match {:.2f} %, {} error rate {:.2f} %, perplexity {:.4g} on {} test "
      "sequences, after {:.1f} s of training\n",
      c.task == "pairs" ? fmt::format("BLEU {:.2f}, ", s.bleu) : "",
      100 * (1 - s.sequence_error_rate), c.task == "phonemes" ? "phoneme" : "token",
      100 * s.token_error_rate, s.perplexity, s.count, trainer.train_seconds());
  if (!std::isnan(copied)) {
    fmt::print("looked at the very token it copied in {:.1f} % of cases\n", 100 * copied);
  }
  // The last that can fail: what was learnt is safe by now.
  const Drawn drawn = write_attention(a.common.out, c, shown);
  if (drawn.left_out > 0) {
    fmt::print("{} maps of more than {} tokens are not in attention.png\n", drawn.left_out,
               kDrawnTokens);
  }
  std::vector<std::string> files = {"metrics.json", "model.safetensors"};
  files.insert(files.end(), drawn.files.begin(), drawn.files.end());
  fmt::print("wrote {} to {}\n", fmt::join(files, ", "), a.common.out);
  // One that can be typed: made of tokens that the vocabulary has, and of letters that show.
  const auto known = std::find_if(shown.begin(), shown.end(), [](const Shown& one) {
    return one.source.find("<unk>") == std::string::npos && visible_token(one.source) == one.source;
  });
  const std::string& source = (known == shown.end() ? shown.begin() : known)->source;
  fmt::print("next: {}\n", examples::command({"--translate=" + visible_token(source),
                                              "--checkpoint", path("model.safetensors")}));
  return 0;
}

int run(int argc, char** argv) {
  Arguments a = read_arguments(argc, argv);
  if (a.translate) return translate_text(a);
  if (!a.compare.empty()) return compare(a);
  return train(a);
}

}  // namespace
}  // namespace fovea::seq2seq

int main(int argc, char** argv) {
  return fovea::examples::run_program(argc, argv, fovea::seq2seq::run);
}
