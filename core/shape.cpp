#include "fovea/core/shape.h"

#include <fmt/format.h>

#include "fovea/core/error.h"
#include "fovea/core/trace.h"

namespace fovea {

void Shape::rank_error(int64_t n) {
  throw ShapeError(
      fmt::format("shape: rank {} is above the limit of {}; merge axes with reshape", n, kMaxRank));
}

Shape Shape::filled(int64_t n, int64_t value) {
  Shape s;
  for (int64_t i = 0; i < n; ++i) s.push_back(value);
  return s;
}

void Shape::insert(int at, int64_t x) {
  push_back(x);
  for (int i = rank_ - 1; i > at; --i) v_[i] = v_[i - 1];
  v_[at] = x;
}

void Shape::erase(int at) {
  for (int i = at; i + 1 < rank_; ++i) v_[i] = v_[i + 1];
  --rank_;
}

int64_t Shape::numel() const {
  bool zero = false;
  bool negative = false;
  for (int64_t s : *this) zero |= s == 0, negative |= s < 0;
  return zero && !negative ? 0 : numel("numel");
}

int64_t Shape::numel(const char* op) const {
  int64_t n = 1;
  bool overflow = false;
  bool zero = false;
  for (int64_t s : *this) {
    if (s < 0) {
      throw ShapeError(
          fmt::format("{}: shape {} has a negative size; sizes must be at least 0", op, str()));
    }
    zero |= s == 0;
    overflow = overflow || __builtin_mul_overflow(n, s > 0 ? s : 1, &n);
  }
  if (overflow || n > (int64_t{1} << 59)) {
    throw ShapeError(fmt::format(
        "{}: shape {} has more elements than memory can hold; the limit is 2^59", op, str()));
  }
  return zero ? 0 : n;
}

std::string Shape::str() const {
  std::string s = "[";
  for (int i = 0; i < rank_; ++i) s += (i ? ", " : "") + std::to_string(v_[i]);
  return s + "]";
}

Strides contiguous_strides(const Shape& shape) {
  Strides s = shape;
  int64_t step = 1;
  for (int d = shape.rank() - 1; d >= 0; --d) {
    s[d] = step;
    step *= shape[d] > 0 ? shape[d] : 1;
  }
  return s;
}

int normalize_axis(const char* op, int64_t axis, int rank) {
  const int64_t limit = rank > 0 ? rank : 1;  // a 0-dim tensor answers to axis 0 and -1
  if (axis < -limit || axis >= limit) {
    throw IndexError(fmt::format("{}: axis {} is out of range for rank {}; use {} to {}", op, axis,
                                 rank, -limit, limit - 1));
  }
  return static_cast<int>(axis < 0 ? axis + limit : axis);
}

Shape broadcast_shapes(const char* op, const Shape& a, const Shape& b) {
  if (a == b) return a;
  Shape out = a.rank() >= b.rank() ? a : b;
  for (int i = 1; i <= out.rank(); ++i) {
    const int64_t x = i <= a.rank() ? a[a.rank() - i] : 1;
    const int64_t y = i <= b.rank() ? b[b.rank() - i] : 1;
    if (x != y && x != 1 && y != 1) {
      throw ShapeError(
          fmt::format("{}: shapes do not broadcast: a is {}, b is {}; sizes {} and {} on axis {} "
                      "must be equal or 1",
                      op, a.str(), b.str(), x, y, -i));
    }
    out[out.rank() - i] = x == 1 ? y : x;
  }
  if (detail::shape_trace) detail::trace_broadcast(op, out);
  return out;
}

Strides broadcast_strides(const Shape& shape, const Strides& strides, const Shape& target) {
  Strides s = target;
  const int pad = target.rank() - shape.rank();
  for (int d = 0; d < target.rank(); ++d) {
    const bool own = d >= pad && (shape[d - pad] == target[d] || shape[d - pad] != 1);
    s[d] = own ? strides[d - pad] : 0;
  }
  return s;
}

}  // namespace fovea
