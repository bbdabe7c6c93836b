// How English words are spoken: spelling to phones.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "examples/seq2seq/dataset.h"
#include "fovea/io/characters.h"
#include "fovea/io/lexicon.h"

namespace fovea::seq2seq {

Dataset load_phonemes(const Config& c) {
  const std::string path = c.file.empty() ? kCmuDictionary : c.file;
  std::map<std::string, std::vector<std::vector<std::string>>> words;  // "AWOL" is "awol"
  int64_t said = 0;
  for (LexiconEntry& e : read_lexicon(path, {.stress = c.stress, .syllables = c.stress})) {
    auto& all = words[lower(e.word)];
    for (auto& p : e.pronunciations) {
      if (std::find(all.begin(), all.end(), p) != all.end()) continue;
      all.push_back(std::move(p));
      ++said;
    }
  }
  std::vector<Sample> samples;
  samples.reserve(words.size());
  for (auto& [word, pronunciations] : words) {
    Sample s{{}, std::move(pronunciations), {}};
    for (const char32_t p : code_points(word, "'" + path + "'")) s.source.push_back(to_utf8({p}));
    samples.push_back(std::move(s));
  }
  Dataset d = make_dataset(samples);
  d.report = fmt::format("{} words, {} pronunciations", samples.size(), said);
  return d;
}

}  // namespace fovea::seq2seq
