#include "examples/seq2seq/arguments.h"

#include <fmt/format.h>

#include <algorithm>

#include "examples/common/program.h"
#include "examples/common/resume.h"
#include "examples/seq2seq/flag_rules.h"
#include "fovea/io/safetensors.h"

namespace fovea::seq2seq {
namespace {

const std::vector<std::string> kAttentions = {"additive", "dot",      "scaled",     "general",
                                              "concat",   "location", "local-m",    "local-p",
                                              "cosine",   "none",     "transformer"};

using examples::Flags, examples::UsageError;

void add_model(Flags& flags, Config& c) {
  using examples::at_least, examples::between, examples::one_of;
  flags.add("--attention", c.attention, "How the decoder looks at the source, see below")
      .check(one_of(kAttentions));
  flags.add("--cell", c.cell, "Of the decoder: gru, lstm or rnn")
      .check(one_of({"gru", "lstm", "rnn"}));
  flags.add("--encoder", c.encoder, "Of the source: as --cell when not given, or transformer")
      .check(one_of({"gru", "lstm", "rnn", "transformer"}));
  flags.add("--order", c.order, "bahdanau: look, then step; luong: step, then look")
      .check(one_of({"bahdanau", "luong"}));
  flags.add("--no-input-feeding", c.no_input_feeding,
            "In luong's order, keep from the cell what was seen");
  flags
      .add("--positions", c.positions,
           "Of a Transformer: rotary in its self-attention, beside the sinusoids of its tokens, or "
           "sinusoidal alone")
      .check(one_of({"rotary", "sinusoidal"}));
  flags.add("--layers", c.layers, "Layers on either side").check(at_least(1, 100));
  flags.add("--hidden", c.hidden, "Width of the states").check(at_least(1, 1 << 16));
  flags.add("--embedding", c.embedding, "Width of a token's vector").check(at_least(1, 1 << 16));
  flags.add("--heads", c.heads, "Heads of a Transformer").check(at_least(1, 1000));
  flags.add("--window", c.window, "Of local attention: tokens on either side")
      .check(at_least(1, 1 << 20));
  flags.add("--dropout", c.dropout, "Probability of dropout").check(between(0, 1));
}

void add_task(Flags& flags, Config& c) {
  using examples::at_least, examples::one_of;
  flags.add("--task", c.task, "What to learn: phonemes, dates, reverse or pairs")
      .check(one_of({"phonemes", "dates", "reverse", "pairs"}));
  flags.add("FILE", c.file, "Of pairs: tab-separated text; of phonemes: another dictionary");
  flags.add("--stress", c.stress,
            "phonemes: vowels carry their stress; dots between syllables count as phones in per");
  flags.add("--samples", c.samples, "dates, reverse: how many").check(at_least(10, 1 << 26));
  flags.add("--shortest", c.shortest, "reverse: letters, at least").check(at_least(1, 10000));
  flags.add("--longest", c.longest, "reverse: letters, at most").check(at_least(1, 10000));
  flags.add("--unit", c.unit, "pairs: tokens are words, characters or bpe")
      .check(one_of({"words", "characters", "bpe"}));
  flags.add("--source-column", c.source_column, "pairs: from 1").check(at_least(1, 1 << 20));
  flags.add("--target-column", c.target_column, "pairs: from 1").check(at_least(1, 1 << 20));
  flags.add("--min-count", c.min_count, "pairs: rarer tokens are unknown").check(at_least(1));
  flags.add("--max-vocabulary", c.max_vocabulary, "pairs: tokens of a side, at most; 0 for all")
      .check(at_least(0));
  flags.add("--merges", c.merges, "pairs: of bpe").check(at_least(0, 1 << 24));
  flags.add("--max-length", c.max_length, "pairs: longer ones are left out; 0 for none")
      .check(at_least(0));
  flags.add("--max-pairs", c.max_pairs, "pairs: the first of the file; 0 for all")
      .check(at_least(0));
}

void add_training(Flags& flags, Config& c) {
  using examples::above, examples::at_least, examples::between;
  flags.add("--batch", c.batch, "Pairs in a step").check(at_least(1, 1 << 20));
  flags.add("--lr", c.lr, "Learning rate of AdamW, after --warm-up").check(above(0));
  flags.add("--min-lr", c.min_lr, "Where the learning rate ends").check(between(0, 1e6));
  flags.add("--beta2", c.beta2, "AdamW's beta2").check(between(0, 0.999999));
  flags.add("--warm-up", c.warm_up, "Steps in which the learning rate rises").check(at_least(0));
  flags.add("--clip", c.clip, "Largest norm of a gradient").check(above(0));
  flags.add("--label-smoothing", c.label_smoothing, "Of the loss").check(between(0, 1));
  flags.add("--weight-decay", c.weight_decay, "AdamW's weight decay").check(between(0, 1e6));
  flags
      .add("--sampling", c.sampling,
           "Scheduled sampling: the model reads its own tokens, at last with this probability")
      .check(between(0, 1));
}

void add_testing(Flags& flags, Arguments& a) {
  Config& c = a.config;
  using examples::at_least, examples::between;
  flags.add("--beams", c.decode.beams, "Of beam search; 1 is greedy").check(at_least(1, 10000));
  flags.add("--length-penalty", c.decode.length_penalty, "alpha of Wu 2016; 0 prefers the short")
      .check(between(-100, 100));
  flags.add("--coverage-penalty", c.decode.coverage_penalty, "beta of Wu 2016")
      .check(between(0, 100));
  flags.add("--test-limit", c.test_limit, "Sequences of the final test; 0 for all")
      .check(at_least(0));
  flags.add("--translate", a.text, "Translate this, do not train");
  flags.add("--checkpoint", a.checkpoint, "What --translate translates with, beside --resume")
      .type_name("FILE");
  flags.add("--compare", a.compare, "Train these attentions, one after the other, and compare")
      .type_name("A,B,...");
}

// Sets what the flags say, and leaves the rest of a.config as it is. See Flags::parse.
bool parse(int argc, char** argv, Arguments& a, bool show_help = true) {
  Flags flags("Learns to turn one sequence into another, looking back at it (Bahdanau 2014)");
  Config& c = a.config;
  a.common.seed = c.seed;
  a.common.epochs = c.epochs;
  a.common.out = "out/seq2seq/" + c.task;
  flags.add_common(a.common);
  flags.group("Task");
  add_task(flags, c);
  flags.group("Model");
  add_model(flags, c);
  flags.group("Training");
  add_training(flags, c);
  flags.group("Testing and translating");
  add_testing(flags, a);
  flags.footer(
      fmt::format("Attentions: {}\nThe defaults are those of --task {} with --attention {}; give "
                  "others beside --help to see theirs.",
                  fmt::join(kAttentions, ", "), c.task, c.attention));
  if (!flags.parse(argc, argv, show_help)) return false;
  a.given = flags.all_given();
  a.translate = a.given.count("--translate") > 0;
  c.seed = a.common.seed;
  c.epochs = a.common.epochs;
  return true;
}

// Of a run that begins.
void follow_cell(Arguments& a) {
  if (a.given.count("--cell") > 0 && a.given.count("--encoder") == 0) {
    a.config.encoder = a.config.cell;
  }
}

// The names that --compare has, and the flags beside it.
void check_compare(const Arguments& a) {
  std::set<std::string> seen;
  for (const std::string& name : a.compare) {
    const std::string wrong = examples::one_of(kAttentions)(name);
    if (!wrong.empty()) throw UsageError("--compare: " + wrong);
    if (!seen.insert(name).second) throw UsageError(fmt::format("--compare: {} twice", name));
  }
  if (a.given.count("--attention") > 0) {
    throw UsageError("--attention: --compare names the attentions; leave it out");
  }
}

// A checkpoint has its own flags: another value is refused, and what nothing reads.
void check_against(const Config& before, Arguments& a) {
  const std::string other = a.config.recorded().conflict(Config(before).recorded());
  if (!other.empty()) {
    throw UsageError(fmt::format("{} in {}; leave the flag out{}", other, a.checkpoint,
                                 a.translate ? "" : ", or train anew"));
  }
  for (const char* flag : {"FILE", "--test-limit"}) {
    if (a.translate && a.given.count(flag) > 0) {
      throw UsageError(fmt::format("{}: means nothing to --translate; leave it out", flag));
    }
  }
}

}  // namespace

Arguments read_arguments(int argc, char** argv) {
  Arguments a, b;
  const bool help = !parse(argc, argv, a, false);
  b.config = preset(a.config.task, a.config.attention);
  if (help) parse(argc, argv, b);
  const std::string file =
      examples::file_to_go_on_from(a.common, a.checkpoint, "--translate", a.translate);
  if (!a.compare.empty() && !file.empty()) {
    throw UsageError("--compare: trains anew; leave out --resume and --translate");
  }
  Config before;
  if (!file.empty()) {
    before.recorded().read(read_safetensors(file).metadata, file);
    b.config = before;
  }
  parse(argc, argv, b);
  b.checkpoint = file;
  b.command.assign(argv + 1, argv + argc);
  if (file.empty()) {
    follow_cell(b);
  } else {
    check_against(before, b);
  }
  if (!b.translate) check_config(b.config);
  if (b.compare.empty()) {
    check_given(b.given, {b.config});
    return b;
  }
  check_compare(b);
  b.with_attention = [argc, argv](const std::string& attention) {
    Arguments x;
    parse(argc, argv, x);
    x.config = preset(x.config.task, attention);
    parse(argc, argv, x);
    x.config.attention = attention;
    follow_cell(x);
    check_config(x.config);
    return x.config;
  };
  std::vector<Config> all;
  for (const std::string& name : b.compare) all.push_back(b.with_attention(name));
  check_given(b.given, all);
  return b;
}

}  // namespace fovea::seq2seq
