// Many sequences of token ids, end to end in one array: 4 bytes a token and 8 a sequence.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace fovea {

class TokenLists {
 public:
  int64_t size() const { return static_cast<int64_t>(ends_.size()); }
  int64_t tokens() const { return static_cast<int64_t>(ids_.size()); }
  /// Sequence i, which must be in [0, size()); valid until the next add().
  std::span<const int32_t> operator[](int64_t i) const {
    const int64_t begin = i == 0 ? 0 : ends_[static_cast<size_t>(i - 1)];
    return {ids_.data() + begin, static_cast<size_t>(ends_[static_cast<size_t>(i)] - begin)};
  }
  int64_t length(int64_t i) const { return static_cast<int64_t>((*this)[i].size()); }

  void reserve(int64_t sequences, int64_t tokens) {
    ends_.reserve(static_cast<size_t>(sequences));
    ids_.reserve(static_cast<size_t>(tokens));
  }
  void add(std::span<const int32_t> sequence) {
    ids_.insert(ids_.end(), sequence.begin(), sequence.end());
    ends_.push_back(tokens());
  }

 private:
  std::vector<int32_t> ids_;
  std::vector<int64_t> ends_;  // where each sequence ends in ids_
};

/// Sentence i of the one belongs to sentence i of the other: what a model of sequence to sequence
/// learns from. Neither side holds the marks of begin and end.
struct PairCorpus {
  TokenLists source, target;

  int64_t size() const { return source.size(); }
  void add(std::span<const int32_t> from, std::span<const int32_t> to) {
    source.add(from);
    target.add(to);
  }
};

}  // namespace fovea
