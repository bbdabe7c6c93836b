#include "examples/seq2seq/dataset.h"

#include <fmt/format.h>

#include <algorithm>

#include "fovea/core/error.h"
#include "fovea/io/bpe.h"
#include "fovea/io/characters.h"
#include "fovea/io/pairs.h"

namespace fovea::seq2seq {

namespace {

// FNV-1a.
struct Hash {
  uint64_t value = 0xcbf29ce484222325;

  void add(std::string_view bytes) {
    for (const char c : bytes) value = (value ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  }
  void add(uint64_t number) {  // whatever the order of bytes of the machine
    for (int bits = 0; bits < 64; bits += 8) {
      const char byte = static_cast<char>(number >> bits & 0xff);
      add(std::string_view(&byte, 1));
    }
  }
  void add(std::span<const int32_t> ids) {
    add(ids.size());
    for (const int32_t id : ids) add(static_cast<uint64_t>(id));
  }
  void add(const TokenLists& lists) {
    add(static_cast<uint64_t>(lists.size()));
    for (int64_t i = 0; i < lists.size(); ++i) add(lists[i]);
  }
};

}  // namespace

// One step of mixing: the low bits of the hash alone are poor.
Part part_of(std::string_view source) {
  Hash hash;
  hash.add(source);
  uint64_t h = hash.value;
  h ^= h >> 32;
  h *= 0xd6e8feb86659fd93;
  h ^= h >> 32;
  const uint64_t place = h % 100;
  return place < 90 ? Part::train : place < 95 ? Part::valid : Part::test;
}

uint64_t fingerprint(const Dataset& d) {
  Hash h;
  h.add(d.train.source);
  h.add(d.train.target);
  for (const HeldOut* part : {&d.valid, &d.test}) {
    h.add(part->sources);
    for (const auto& right : part->references) {
      h.add(right.size());
      for (const auto& ids : right) h.add(std::span<const int32_t>(ids));
    }
    for (const std::string& text : part->texts) {
      h.add(text.size());
      h.add(text);
    }
  }
  return h.value;
}

HeldOut HeldOut::spread(int64_t most) const {
  HeldOut some;
  const int64_t count = std::min(most, size());
  for (int64_t n = 0; n < count; ++n) {
    const int64_t i = n * size() / count;
    some.add(sources[i], references[static_cast<size_t>(i)], copied[static_cast<size_t>(i)]);
    if (!texts.empty()) some.texts.push_back(texts[static_cast<size_t>(i)]);
  }
  return some;
}

Dataset make_dataset(const std::vector<Sample>& samples) {
  Dataset d;
  TokenCounts source, target;
  std::vector<Part> parts;
  for (const Sample& s : samples) {
    parts.push_back(part_of(fmt::format("{}", fmt::join(s.source, "\t"))));
    if (parts.back() != Part::train) continue;
    for (const std::string& t : s.source) count_token(source, t);
    for (const auto& tokens : s.targets) {
      for (const std::string& t : tokens) count_token(target, t);
    }
  }
  d.source = Vocabulary(source);
  d.target = Vocabulary(target);
  for (size_t i = 0; i < samples.size(); ++i) {
    const std::vector<int32_t> from = d.source.encode(samples[i].source);
    std::vector<std::vector<int32_t>> to;
    for (const auto& tokens : samples[i].targets) to.push_back(d.target.encode(tokens));
    if (parts[i] == Part::train) {
      for (const auto& ids : to) d.train.add(from, ids);
    } else {
      (parts[i] == Part::valid ? d.valid : d.test).add(from, std::move(to), samples[i].copied);
    }
  }
  return d;
}

namespace {
Dataset load(const Config& c) {
  if (c.task == "phonemes") return load_phonemes(c);
  if (c.task == "dates") return load_dates(c);
  if (c.task == "reverse") return load_reversed(c);
  return load_pairs(c);
}
}  // namespace

Dataset load_dataset(const Config& c) {
  Dataset d = load(c);
  if (d.train.size() == 0 || d.valid.size() == 0 || d.test.size() == 0) {
    throw IoError(
        fmt::format("--task {}: too little data: {} to learn from, {} and {} to test on ({})",
                    c.task, d.train.size(), d.valid.size(), d.test.size(), d.report));
  }
  return d;
}

std::string lower(std::string word) {
  for (char& x : word) {
    if (x >= 'A' && x <= 'Z') x = static_cast<char>(x + ('a' - 'A'));
  }
  return word;
}

HeldOut tested(const Config& c, const Dataset& d) {
  return d.test.spread(c.test_limit > 0 ? c.test_limit : d.test.size());
}

void remember(Config& c, const Dataset& d) {
  c.source_vocabulary = d.source.text();
  c.target_vocabulary = d.target.text();
  c.source_bpe = d.source_bpe;
  c.target_bpe = d.target_bpe;
  c.data = fingerprint(d);
  for (const TokenLists* side : {&d.train.source, &d.valid.sources, &d.test.sources}) {
    for (int64_t i = 0; i < side->size(); ++i) {
      c.max_source = std::max(c.max_source, side->length(i));
    }
  }
}

std::vector<std::string> split_source(const Config& c, const std::string& text) {
  code_points(text, "--translate");
  const bool words = c.task == "pairs" && c.unit != "characters";
  std::vector<std::string_view> parts;
  tokenize(text, words ? TokenUnit::words : TokenUnit::characters, parts);
  std::vector<std::string> tokens(parts.begin(), parts.end());
  if (c.task == "phonemes") {
    for (std::string& letter : tokens) letter = lower(std::move(letter));
  }
  if (!words || c.unit != "bpe") return tokens;
  const Bpe bpe = Bpe::from_text(c.source_bpe);
  std::vector<std::string> pieces;
  for (const std::string& word : tokens) {
    for (std::string& piece : bpe.split(word)) pieces.push_back(std::move(piece));
  }
  return pieces;
}

namespace {
std::string join(const Config& c, const std::vector<std::string>& tokens, bool characters) {
  if (characters) return fmt::format("{}", fmt::join(tokens, ""));
  if (c.task == "pairs" && c.unit == "bpe") return Bpe::join(tokens);
  return fmt::format("{}", fmt::join(tokens, " "));
}
}  // namespace

std::string join_source(const Config& c, const std::vector<std::string>& tokens) {
  return join(c, tokens, c.task != "pairs" || c.unit == "characters");
}

std::string join_target(const Config& c, const std::vector<std::string>& tokens) {
  return join(
      c, tokens,
      c.task == "dates" || c.task == "reverse" || (c.task == "pairs" && c.unit == "characters"));
}

}  // namespace fovea::seq2seq
