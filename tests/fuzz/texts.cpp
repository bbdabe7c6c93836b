// Files of text, and small tables that are written as text.
#include "fovea/core/error.h"
#include "fovea/io/bpe.h"
#include "fovea/io/lexicon.h"
#include "fovea/io/pairs.h"
#include "fovea/io/vocabulary.h"
#include "tests/fuzz/targets.h"

namespace fovea::fuzz {

// The first byte chooses the options.
void fuzz_pairs(Bytes bytes) {
  if (bytes.empty()) return;
  const unsigned flags = bytes[0];
  const MemoryFile file(bytes.subspan(1));
  const PairOptions o{.source_column = (flags & 1) != 0 ? 2 : 1,
                      .target_column = (flags & 2) != 0 ? 1 : 2,
                      .source_unit = (flags & 4) != 0 ? TokenUnit::characters : TokenUnit::words,
                      .target_unit = (flags & 8) != 0 ? TokenUnit::characters : TokenUnit::words,
                      .max_length = (flags & 16) != 0 ? 3 : 0,
                      .max_pairs = (flags & 32) != 0 ? 2 : 0};
  const PairCounts counts = count_pairs(file.path(), o);
  const Vocabulary from(counts.source, {}), to(counts.target, {});
  PairReport report;
  const PairCorpus corpus = encode_pairs(file.path(), o, std::cref(from), std::cref(to), &report);
  require(report.pairs == counts.report.pairs, "both passes keep the same pairs");
  require(corpus.source.size() == report.pairs, "the corpus holds what was kept");
}

void fuzz_lexicon(Bytes bytes) {
  const MemoryFile file(bytes);
  for (const bool stress : {false, true}) {
    for (const LexiconEntry& e :
         read_lexicon(file.path(), {.stress = stress, .syllables = stress})) {
      require(!e.pronunciations.empty(), "every word has a pronunciation");
      for (const auto& phones : e.pronunciations) require(!phones.empty(), "of some phones");
    }
  }
}

void fuzz_bpe(Bytes bytes) {
  const std::string_view text = text_of(bytes);
  const Bpe bpe = Bpe::from_text(text);
  require(Bpe::from_text(bpe.text()).text() == bpe.text(), "writing and reading changes nothing");
  for (const std::string_view word : {"lowest", "aaaaaaaa", "a</w>b", "n\xc3\xa4he"}) {
    require(Bpe::join(bpe.split(word)) == word, "the pieces of a word join to it");
  }
  require(Bpe::join(bpe.split(text)) == text, "the pieces of any text join to it");
}

void fuzz_vocabulary(Bytes bytes) {
  const Vocabulary v = Vocabulary::from_text(text_of(bytes));
  require(Vocabulary::from_text(v.text()).text() == v.text(),
          "writing and reading changes nothing");
  for (int64_t id = Vocabulary::marks; id < v.size(); ++id) {
    require(v.id(v.token(id)) == id, "a token has its own number");
  }
}

}  // namespace fovea::fuzz
