#include "tests/op_cases/layouts.h"

#include <algorithm>
#include <limits>

namespace fovea::cases {
namespace {

int64_t extent(const Shape& shape, const Strides& strides) {
  int64_t last = 0;
  for (int d = 0; d < shape.rank(); ++d) last += (shape[d] - 1) * strides[d];
  return last + 1;
}

// The strides of a tensor whose axes lie in memory in this order, slowest first.
Strides ordered(const Shape& shape, const std::vector<int>& order) {
  Strides s = shape;
  int64_t step = 1;
  for (size_t i = order.size(); i-- > 0;) {
    s[order[i]] = step;
    step *= shape[order[i]];
  }
  return s;
}

int64_t offset_of(int64_t n, const Shape& shape, const Strides& strides) {
  int64_t at = 0;
  for (int d = shape.rank() - 1; d >= 0; --d) {
    at += n % shape[d] * strides[d];
    n /= shape[d];
  }
  return at;
}

Tensor place(const Tensor& x, const Strides& strides, int64_t offset) {
  const Shape& shape = x.shape();
  const Tensor base = Tensor::empty({offset + extent(shape, strides)}, x.dtype());
  visit(x.dtype(), [&](auto zero) {
    using T = decltype(zero);
    T* to = base.data<T>();
    const T* from = x.data<T>();
    // For indices and masks a value that is out of range, or at least wrong.
    const T junk = std::numeric_limits<T>::has_quiet_NaN ? std::numeric_limits<T>::quiet_NaN()
                                                         : std::numeric_limits<T>::max();
    std::fill_n(to, base.numel(), x.dtype() == boolean ? T(1) : junk);
    for (int64_t n = x.numel(); n-- > 0;) {  // the first slice of an expanded axis comes last
      to[offset + offset_of(n, shape, strides)] = from[offset_of(n, shape, x.strides())];
    }
  });
  return base.alias(shape, strides, offset);
}

}  // namespace

const char* name(Layout layout) {
  constexpr const char* kNames[] = {"contiguous",    "transposed", "rotated",  "stepped",
                                    "stepped_first", "offset",     "expanded", "odd_stride"};
  return kNames[static_cast<int>(layout)];
}

std::optional<Tensor> laid_out(const Tensor& x, Layout layout) {
  const Shape& shape = x.shape();
  const int rank = shape.rank();
  if (x.numel() == 0) return {};
  std::vector<int> order(static_cast<size_t>(rank));
  for (int d = 0; d < rank; ++d) order[static_cast<size_t>(d)] = d;
  Strides strides = contiguous_strides(shape);
  int64_t offset = 0;
  switch (layout) {
    case Layout::contiguous:
      break;
    case Layout::transposed:
      if (rank < 2) return {};
      std::reverse(order.begin(), order.end());
      strides = ordered(shape, order);
      break;
    case Layout::rotated:
      if (rank < 3) return {};
      std::rotate(order.begin(), order.end() - 1, order.end());
      strides = ordered(shape, order);
      break;
    case Layout::stepped:
      if (rank < 1) return {};
      for (int64_t& s : strides) s *= 2;
      offset = 1;
      break;
    case Layout::stepped_first:
      if (rank < 1) return {};
      strides[0] *= 2;
      break;
    case Layout::offset:
      if (rank >= 2) {
        Shape wide = shape;
        wide[rank - 1] += 3;
        strides = contiguous_strides(wide);
      }
      offset = 3;
      break;
    case Layout::expanded: {
      const auto longest = std::max_element(shape.begin(), shape.end());
      if (rank < 1 || *longest < 2) return {};
      strides[static_cast<int>(longest - shape.begin())] = 0;
      break;
    }
    case Layout::odd_stride: {
      bool any = false;
      for (int d = 0; d < rank; ++d) {
        if (shape[d] != 1) continue;
        strides[d] = 7 + 2 * d;
        any = true;
      }
      if (!any) return {};
      break;
    }
  }
  return place(x, strides, offset);
}

}  // namespace fovea::cases
