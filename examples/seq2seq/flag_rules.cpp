#include "examples/seq2seq/flag_rules.h"

#include <fmt/format.h>

#include <algorithm>

#include "examples/common/program.h"
#include "fovea/io/vocabulary.h"

namespace fovea::seq2seq {
namespace {

bool phonemes(const Config& c) { return c.task == "phonemes"; }
bool pairs(const Config& c) { return c.task == "pairs"; }
bool bpe(const Config& c) { return pairs(c) && c.unit == "bpe"; }
bool reverse(const Config& c) { return c.task == "reverse"; }
bool generated(const Config& c) { return c.task == "dates" || reverse(c); }
bool recurrent(const Config& c) { return c.attention != "transformer"; }
bool transformer(const Config& c) { return !recurrent(c); }
bool heads(const Config& c) { return !recurrent(c) || c.encoder == "transformer"; }
bool local(const Config& c) { return c.attention == "local-m" || c.attention == "local-p"; }
bool feeds(const Config& c) { return recurrent(c) && c.attention != "none" && c.order == "luong"; }

constexpr const char* kPairs = "--task pairs";
constexpr const char* kRecurrent = "recurrent models, not to --attention transformer";

struct Rule {
  const char* flag;
  bool (*applies)(const Config&);
  const char* where;
};
constexpr Rule kRules[] = {
    {"--stress", phonemes, "--task phonemes"},
    {"--samples", generated, "--task dates and reverse"},
    {"--shortest", reverse, "--task reverse"},
    {"--longest", reverse, "--task reverse"},
    {"--unit", pairs, kPairs},
    {"--source-column", pairs, kPairs},
    {"--target-column", pairs, kPairs},
    {"--min-count", pairs, kPairs},
    {"--max-vocabulary", pairs, kPairs},
    {"--max-length", pairs, kPairs},
    {"--max-pairs", pairs, kPairs},
    {"--merges", bpe, "--task pairs with --unit bpe"},
    {"--cell", recurrent, kRecurrent},
    {"--encoder", recurrent, kRecurrent},
    {"--order", recurrent, kRecurrent},
    {"--embedding", recurrent, kRecurrent},
    {"--no-input-feeding", feeds, "--order luong with an attention"},
    {"--heads", heads, "--attention transformer and --encoder transformer"},
    {"--positions", transformer, "--attention transformer"},
    {"--window", local, "--attention local-m and local-p"},
};

}  // namespace

void check_config(const Config& c) {
  if (c.task == "pairs" && c.file.empty()) {
    throw examples::UsageError("--task pairs: needs a FILE of tab-separated pairs");
  }
  if ((c.task == "dates" || c.task == "reverse") && !c.file.empty()) {
    throw examples::UsageError(
        fmt::format("--task {}: makes its own data, but a file is given, '{}'", c.task, c.file));
  }
  if (c.max_vocabulary > 0 && c.max_vocabulary <= Vocabulary::marks) {
    throw examples::UsageError(
        fmt::format("--max-vocabulary {}: must be above {}, for the marks take as many",
                    c.max_vocabulary, Vocabulary::marks));
  }
  if (c.shortest > c.longest) {
    throw examples::UsageError(
        fmt::format("--shortest {}: more than --longest {}", c.shortest, c.longest));
  }
  if (c.min_lr > c.lr) {
    throw examples::UsageError(fmt::format("--min-lr {}: above --lr {}", c.min_lr, c.lr));
  }
  if (c.attention == "transformer" && c.sampling > 0) {
    throw examples::UsageError(
        "--sampling: a Transformer's steps are computed at once; leave it out");
  }
  if (c.decode.coverage_penalty != 0 && (c.attention == "transformer" || c.attention == "none")) {
    throw examples::UsageError(fmt::format(
        "--coverage-penalty: --attention {} keeps no coverage; leave it out", c.attention));
  }
  if (c.hidden % 2 != 0) {
    throw examples::UsageError(
        fmt::format("--hidden {}: must be even, half for each direction", c.hidden));
  }
  const bool heads = c.attention == "transformer" || c.encoder == "transformer";
  if (heads && c.hidden % c.heads != 0) {
    throw examples::UsageError(
        fmt::format("--hidden {}: not a multiple of {} heads", c.hidden, c.heads));
  }
  if (!recurrent(c) && c.positions == "rotary" && c.hidden / c.heads % 2 != 0) {
    throw examples::UsageError(
        fmt::format("--hidden {}: each of {} heads must be of even width, for rotary positions",
                    c.hidden, c.heads));
  }
}

void check_given(const std::set<std::string>& flags, const std::vector<Config>& configs) {
  for (const Rule& r : kRules) {
    if (flags.count(r.flag) > 0 && std::none_of(configs.begin(), configs.end(), r.applies)) {
      throw examples::UsageError(fmt::format("{}: belongs to {}; leave it out", r.flag, r.where));
    }
  }
}

}  // namespace fovea::seq2seq
