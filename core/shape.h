// Sizes and strides: up to eight numbers held inline, never on the heap.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

namespace fovea {

inline constexpr int kMaxRank = 8;

/// A short list of int64: the sizes of a tensor, or its strides in elements. More than eight
/// entries is a ShapeError.
class Shape {
 public:
  Shape() = default;
  Shape(std::initializer_list<int64_t> v)  // NOLINT(google-explicit-constructor): zeros({2, 3})
      : Shape(v.begin(), static_cast<int64_t>(v.size())) {}
  Shape(const std::vector<int64_t>& v)  // NOLINT(google-explicit-constructor)
      : Shape(v.data(), static_cast<int64_t>(v.size())) {}
  Shape(const int64_t* v, int64_t n) {
    if (n > kMaxRank) rank_error(n);
    rank_ = static_cast<uint8_t>(n);
    for (int i = 0; i < rank_; ++i) v_[i] = v[i];
  }
  Shape(const Shape& o) : rank_(o.rank_) {
    for (int i = 0; i < rank_; ++i) v_[i] = o.v_[i];
  }
  Shape& operator=(const Shape& o) {
    if (this == &o) return *this;
    rank_ = o.rank_;
    for (int i = 0; i < rank_; ++i) v_[i] = o.v_[i];
    return *this;
  }
  /// n entries of the same value.
  static Shape filled(int64_t n, int64_t value);

  int rank() const { return rank_; }
  bool empty() const { return rank_ == 0; }
  int64_t operator[](int i) const { return v_[i]; }
  int64_t& operator[](int i) { return v_[i]; }
  const int64_t* begin() const { return v_; }
  const int64_t* end() const { return v_ + rank_; }
  int64_t* begin() { return v_; }
  int64_t* end() { return v_ + rank_; }
  int64_t back() const { return v_[rank_ - 1]; }
  void push_back(int64_t x) {
    if (rank_ == kMaxRank) rank_error(kMaxRank + 1);
    v_[rank_++] = x;
  }
  void insert(int at, int64_t x);
  void erase(int at);

  friend bool operator==(const Shape& a, const Shape& b) {
    if (a.rank_ != b.rank_) return false;
    for (int i = 0; i < a.rank_; ++i) {
      if (a.v_[i] != b.v_[i]) return false;
    }
    return true;
  }

  /// The product of the sizes; negative sizes and an overflowing product are ShapeErrors.
  int64_t numel() const;
  /// The same of a tensor that `op` makes, which the errors name. Where a size of 0 leaves no
  /// element, the others must fit all the same: strides are their products.
  int64_t numel(const char* op) const;
  /// "[2, 3]"
  std::string str() const;

 private:
  [[noreturn]] static void rank_error(int64_t n);
  uint8_t rank_ = 0;
  int64_t v_[kMaxRank];  // only the first rank_ entries are ever read
};

using Strides = Shape;

/// Row-major strides: the last axis moves fastest.
Strides contiguous_strides(const Shape& shape);

/// Maps an axis in [-rank, rank) to [0, rank); anything else is an IndexError that names the op.
int normalize_axis(const char* op, int64_t axis, int rank);

/// The shape two operands broadcast to (trailing axes aligned, sizes equal or 1), or a ShapeError
/// naming both.
Shape broadcast_shapes(const char* op, const Shape& a, const Shape& b);

/// The strides that show a tensor of `shape`, `strides` as `target`: 0 along broadcast axes. The
/// shapes must be compatible (broadcast_shapes succeeded).
Strides broadcast_strides(const Shape& shape, const Strides& strides, const Shape& target);

/// Visits an array of several operands of one shape as rows: drops axes of size 1 and merges axes
/// that are adjacent for every operand, so that kernels see few, long rows.
template <int N>
struct Collapsed {
  int rank = 0;  ///< at least 1; sizes[rank - 1] is the row length
  int64_t sizes[kMaxRank];
  int64_t strides[N][kMaxRank];
  int64_t rows = 1;  ///< product of all sizes but the last

  int64_t row_length() const { return sizes[rank - 1]; }
  /// Offsets in elements of the first element of row r, one an operand.
  std::array<int64_t, N> row_offsets(int64_t r) const {
    std::array<int64_t, N> off{};
    for (int d = rank - 2; d >= 0; --d) {
      const int64_t i = r % sizes[d];
      r /= sizes[d];
      for (int k = 0; k < N; ++k) off[k] += i * strides[k][d];
    }
    return off;
  }
};

template <int N>
Collapsed<N> collapse(const Shape& shape, const std::array<const Strides*, N>& strides) {
  Collapsed<N> c;
  for (int d = 0; d < shape.rank(); ++d) {
    if (shape[d] == 1) continue;
    bool merge = c.rank > 0;
    for (int k = 0; k < N && merge; ++k) {
      merge = c.strides[k][c.rank - 1] == shape[d] * (*strides[k])[d];
    }
    if (merge) {
      c.sizes[c.rank - 1] *= shape[d];
    } else {
      c.sizes[c.rank++] = shape[d];
    }
    for (int k = 0; k < N; ++k) c.strides[k][c.rank - 1] = (*strides[k])[d];
  }
  if (c.rank == 0) {
    c.rank = 1;
    c.sizes[0] = 1;
    for (int k = 0; k < N; ++k) c.strides[k][0] = 1;
  }
  for (int d = 0; d < c.rank - 1; ++d) c.rows *= c.sizes[d];
  return c;
}

}  // namespace fovea
