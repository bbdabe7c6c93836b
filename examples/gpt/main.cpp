// Learns to write like a text, a character at a time.
//
//     gpt --text FILE --out out/gpt                          train on any text in UTF-8
//     gpt --resume out/gpt/checkpoint.safetensors
//     gpt --sample "To be" --checkpoint out/gpt/model.safetensors
//
// The default settings are nanoGPT's recipe for a CPU (Karpathy 2022).
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <numeric>

#include "examples/common/interrupt.h"
#include "examples/common/next_command.h"
#include "examples/common/output.h"
#include "examples/common/program.h"
#include "examples/common/resume.h"
#include "examples/gpt/train.h"
#include "fovea/core/error.h"
#include "fovea/core/parallel.h"
#include "fovea/io/file.h"
#include "fovea/io/metrics.h"
#include "fovea/io/safetensors.h"
#include "fovea/nn/serialize.h"
#include "fovea/ops/ops.h"
#include "fovea/viz/curve.h"

namespace fovea::char_gpt {
namespace {

using examples::CommonFlags;

struct Arguments {
  Config config;
  CommonFlags common{.out = "out/gpt"};
  std::string preset = "cpu";
  std::string checkpoint, prompt;
  bool sample = false;
  int64_t tokens = 500;
  SampleOptions sampling = {.temperature = 0.8};
};

void parse(int argc, char** argv, Arguments& a) {
  examples::Flags flags("Learns to write like a text, a character at a time (a GPT, Radford 2019)");
  Config& c = a.config;
  a.common.seed = c.seed;
  a.common.steps = c.steps;
  flags.add_common(a.common);
  const auto add = [&flags](const char* name, auto& value, const char* what) {
    return flags.add(name, value, what);
  };
  using examples::above, examples::at_least, examples::between;
  add("--text", c.text, "The text to learn, in UTF-8").type_name("FILE");
  add("--preset", a.preset, "Settings that other flags change: cpu, or tiny for a first look")
      .check(examples::one_of({"cpu", "tiny"}));
  add("--layers", c.layers, "Layers").check(at_least(1, 1000));
  add("--heads", c.heads, "Heads of attention").check(at_least(1, 1000));
  add("--width", c.width, "Width of the model, a multiple of --heads").check(at_least(1, 1 << 16));
  add("--context", c.context, "Characters the model sees").check(at_least(1, 1 << 20));
  add("--dropout", c.dropout, "Probability of dropout").check(between(0, 1));
  add("--batch", c.batch, "Windows in a step").check(at_least(1, 1 << 20));
  add("--lr", c.lr, "Learning rate of AdamW, after --warm-up").check(above(0));
  add("--min-lr", c.min_lr, "Where the learning rate ends").check(between(0, 1e6));
  add("--warm-up", c.warm_up, "Steps in which the learning rate rises").check(at_least(0));
  add("--beta2", c.beta2, "AdamW's beta2").check(between(0, 0.999999));
  add("--weight-decay", c.weight_decay, "AdamW's weight decay, of matrices").check(between(0, 1e6));
  add("--clip", c.clip, "Largest norm of a gradient").check(above(0));
  add("--eval-every", c.eval_every, "Steps between validations").check(at_least(1));
  add("--sample", a.prompt, "Write behind this prompt, do not train");
  add("--checkpoint", a.checkpoint, "What --sample writes with, beside --resume").type_name("FILE");
  add("--tokens", a.tokens, "Characters that --sample writes").check(at_least(0, 1 << 24));
  add("--temperature", a.sampling.temperature, "Below 1 surer, above 1 bolder, 0 the likeliest")
      .check(between(0, 1e6));
  add("--top-k", a.sampling.top_k, "Choose among the k likeliest; 0 for all").check(at_least(0));
  add("--top-p", a.sampling.top_p, "Choose among the likeliest that reach this probability")
      .check(above(0, 1));
  flags.parse(argc, argv);
  a.sample = flags.given("--sample");
  c.seed = a.common.seed;
  c.steps = a.common.steps;
}

// Flags that are not given keep the values of the preset, or of the file to go on from.
Arguments read_arguments(int argc, char** argv) {
  Arguments a;
  parse(argc, argv, a);
  const std::string file =
      examples::file_to_go_on_from(a.common, a.checkpoint, "--sample", a.sample);
  Arguments b;
  b.config = preset(a.preset);
  Config before;
  if (!file.empty()) {
    before.recorded().read(read_safetensors(file).metadata, file);
    b.config = before;
  }
  parse(argc, argv, b);
  if (b.sample) b.config = before;  // the seed is that of the writing
  const std::string other = file.empty() ? "" : b.config.recorded().conflict(before.recorded());
  if (!other.empty()) {
    throw examples::UsageError(
        fmt::format("{} in {}; leave the flag out, or train anew", other, file));
  }
  if (b.config.width % b.config.heads != 0) {
    throw examples::UsageError(
        fmt::format("--width {}: not a multiple of {} heads", b.config.width, b.config.heads));
  }
  b.checkpoint = file;
  return b;
}

int sample(const Arguments& a) {
  const Characters characters(a.config.characters);
  if (a.prompt.empty()) throw examples::UsageError("--sample: needs a character to begin with");
  GPT model(a.config.model(characters.size()));
  examples::load_weights(model, a.checkpoint);
  model.eval();
  fmt::print("{}\n", write_text(model, characters, a.prompt, a.tokens, a.sampling, a.common.seed));
  return 0;
}

void draw(const std::string& path, const Trainer& trainer) {
  const examples::TrainingLog& e = trainer.evaluations();
  const std::vector<double> step = e.column("step");
  const std::vector<double> loss = trainer.steps().column("loss");
  std::vector<double> every(loss.size());
  std::iota(every.begin(), every.end(), 1);
  const Panel panel{.title = "cross-entropy, nats a character",
                    .x_label = "step",
                    .y_label = "loss",
                    .series = {{"a batch", every, loss},
                               {"training", step, e.column("train_loss")},
                               {"validation", step, e.column("valid_loss")}}};
  write_file_atomically(path, draw_curves({panel}, {.title = "gpt"}));
}

// A word of the text; its first character when there is none.
std::string word_of(const Corpus& corpus) {
  const std::string text = corpus.characters.decode(
      corpus.valid.narrow(0, 0, std::min<int64_t>(corpus.valid.numel(), 1000)));
  std::string word;
  for (const char c : text) {
    if (std::isalpha(static_cast<unsigned char>(c))) {
      word += c;
    } else if (word.size() > 2) {
      return word;
    } else {
      word.clear();
    }
  }
  return corpus.characters.decode(corpus.valid.narrow(0, 0, 1));
}

int run(int argc, char** argv) {
  Arguments a = read_arguments(argc, argv);
  if (a.sample) return sample(a);
  Config& c = a.config;
  const Corpus corpus = Corpus::read(c.text, c.context);
  if (!a.common.resume.empty() && c.characters != corpus.characters.text()) {
    throw IoError(fmt::format("{} was trained on other characters than those of '{}'",
                              a.common.resume, c.text));
  }
  c.characters = corpus.characters.text();
  manual_seed(c.seed);
  GPT model(c.model(corpus.characters.size()));
  Trainer trainer(model, corpus, c, a.common);
  examples::prepare_out(a.common.out);
  examples::catch_interrupts();
  if (!a.common.quiet) {
    fmt::print("{} characters, {} different ones, {} parameters, {} threads\n",
               corpus.train.numel() + corpus.valid.numel(), corpus.characters.size(), model.numel(),
               threads());
  }
  trainer.train();
  model.eval();
  const double valid_loss = text_loss(model, corpus.valid);
  const std::vector<double> seconds = trainer.steps().column("seconds");
  const double total = std::accumulate(seconds.begin(), seconds.end(), 0.0);
  const auto path = [&a](const char* name) { return examples::in_folder(a.common.out, name); };
  save(model, path("model.safetensors"), c.recorded().to_metadata());
  draw(path("curve.svg"), trainer);
  Metrics m;
  m.set("program", "gpt");
  m.set("valid_loss", valid_loss);  // nats a character, over the whole held-out tenth
  m.set("train_loss", trainer.evaluations().column("train_loss").back());
  m.set("steps", c.steps);
  m.set("seed", static_cast<int64_t>(c.seed));
  m.set("threads", threads());
  m.set("train_seconds", total);
  m.set("tokens_per_second",
        static_cast<double>(c.steps * c.batch * c.context) / std::max(total, 1e-9));
  m.set("parameters", model.numel());
  m.set("text", c.text);
  m.set("step_of_evaluation", trainer.evaluations().column("step"));
  m.set("valid_loss_by_evaluation", trainer.evaluations().column("valid_loss"));
  m.set("train_loss_by_evaluation", trainer.evaluations().column("train_loss"));
  m.write(path("metrics.json"));
  fmt::print("validation loss {:.4f} after {} steps in {:.1f} s of training\n", valid_loss, c.steps,
             total);
  fmt::print("wrote metrics.json, model.safetensors, curve.svg to {}\n", a.common.out);
  fmt::print("next: {}\n", examples::command({"--sample=" + word_of(corpus), "--checkpoint",
                                              path("model.safetensors")}));
  return 0;
}

}  // namespace
}  // namespace fovea::char_gpt

int main(int argc, char** argv) {
  return fovea::examples::run_program(argc, argv, fovea::char_gpt::run);
}
