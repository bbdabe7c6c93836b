// A pronouncing dictionary: words and the phones they are spoken with.
#pragma once

#include <string>
#include <vector>

namespace fovea {

/// A word and how it may be pronounced: {"abuse", {{"ax", "b", "y", "uw", "s"}, {..., "z"}}}.
struct LexiconEntry {
  std::string word;
  std::vector<std::vector<std::string>> pronunciations;  ///< distinct, at least one, in file order
};

struct LexiconOptions {
  /// Vowels carry the stress of their syllable: "ae1" in a stressed one, "ae0" in another. Without,
  /// a phone is its bare symbol.
  bool stress = false;
  bool syllables = false;  ///< kSyllableMark stands between syllables
};
inline constexpr const char* kSyllableMark = ".";

/// Where Debian's package festlex-cmu puts the CMU pronouncing dictionary, 0.4: 105,664 words in
/// 40 phones.
inline constexpr const char* kCmuDictionary = "/usr/share/festival/dicts/cmu/cmudict-0.4.out";

/// Reads a lexicon compiled for the Festival synthesiser: a line MNCL, then an entry a line,
///
///     ("abandon" nil (((ax) 0) ((b ae n) 1) ((d ax n) 0)))
///
/// that is a word, a part of speech (dropped: "abuse" the noun and the verb are two pronunciations
/// of one word) and syllables, each of phones and its stress. Blank lines and lines that begin with
/// ';' are comments. Words are as the file spells them ("Afrocentric", "AWOL"), in the order in
/// which they first occur. IoError, naming file and line, what was expected and what was found,
/// for a line that is none of these, for a syllable without phones and for a file without entries;
/// when there is no such file it names the package.
std::vector<LexiconEntry> read_lexicon(const std::string& path = kCmuDictionary,
                                       const LexiconOptions& o = {});

}  // namespace fovea
