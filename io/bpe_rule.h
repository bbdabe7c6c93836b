// Which pieces of words may be joined. Not public.
#pragma once

#include <string>
#include <string_view>

#include "fovea/io/bpe.h"

namespace fovea::detail {

/// Whether a piece is the last of its word.
inline bool ends_word(std::string_view piece) {
  return piece.size() > Bpe::kEnd.size() &&
         piece.substr(piece.size() - Bpe::kEnd.size()) == Bpe::kEnd;
}

/// Text may itself hold "</w>". No merge spells the mark inside a word, so that a piece that ends
/// with it ends the word, and join() can tell.
inline bool may_merge(std::string_view left, std::string_view right) {
  const std::string joined = std::string(left) + std::string(right);
  const bool spells_mark = joined.size() >= Bpe::kEnd.size() &&
                           joined.substr(joined.size() - Bpe::kEnd.size()) == Bpe::kEnd;
  return !ends_word(left) && spells_mark == ends_word(right);
}

}  // namespace fovea::detail
