// Largest and smallest values, and where they are.
#include <algorithm>

#include "fovea/ops/kernels/reduce.h"
#include "fovea/ops/reduce.h"

namespace fovea {
namespace {

using detail::Reduction3;

enum class Which { largest, smallest };

// Values over (A, R, B) -> (A, B); also the first index along R when `index` is given.
template <class T>
void extremes(const Reduction3& l, Which which, T* out, int64_t* index) {
  const T* x = l.data.data<T>();
  const bool largest = which == Which::largest;
  parallel_for(l.a, grain_for(l.r * l.b), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const T* block = x + i * l.r * l.b;
      if (l.b == 1) {
        if (index) {
          index[i] = largest ? kernels::argmax(block, l.r) : kernels::argmin(block, l.r);
          out[i] = block[index[i]];
        } else {
          out[i] = largest ? kernels::max(block, l.r) : kernels::min(block, l.r);
        }
        continue;
      }
      T* row = out + i * l.b;
      std::copy(block, block + l.b, row);
      const T* rest = block + l.b;  // row 0 is the first candidate
      int64_t* at = index ? index + i * l.b : nullptr;
      if (at) std::fill(at, at + l.b, 0);
      if (at && largest) {
        kernels::argmax_rows(rest, l.r - 1, l.b, l.b, 1, row, at);
      } else if (at) {
        kernels::argmin_rows(rest, l.r - 1, l.b, l.b, 1, row, at);
      } else if (largest) {
        kernels::max_rows(rest, l.r - 1, l.b, l.b, row);
      } else {
        kernels::min_rows(rest, l.r - 1, l.b, l.b, row);
      }
    }
  });
}

// Bool is compared as i64: the kernels know numbers only.
Tensor numbers(const Tensor& x) { return x.dtype() == boolean ? to(x, i64) : x; }

// y = max over R.  gx = gy / (number of ties) at every tie, so that the entries sum to gy.
Tensor values(const char* op, Which which, const Tensor& in, const Axes& axes, bool keepdim) {
  detail::check_defined(op, "x", in);
  const Tensor x = numbers(in);
  const auto l = detail::reduction_layout(op, x, axes);
  detail::check_not_empty(op, x, l);
  Tensor y = Tensor::empty(detail::reduced_shape(x.shape(), l.axes, keepdim), x.dtype());
  if (y.numel() > 0) {
    if (x.dtype() == i64) {
      extremes<int64_t>(l, which, y.data<int64_t>(), nullptr);
    } else {
      visit_floating(x.dtype(), [&](auto zero) {
        using T = decltype(zero);
        extremes<T>(l, which, y.data<T>(), nullptr);
      });
    }
  }
  y = record(op, std::move(y), {x}, {save_input("x", x), save_output(y)},
             [shape = x.shape(), axes = l.axes](const Saved& s, const Tensor& gy) {
               const NoGrad constant;  // which elements tie is piecewise constant
               const Tensor top = detail::spread(s[1].detach(), shape, axes);
               // Of a row that holds NaN, NaN is the extreme.
               const Tensor tie = logical_or(eq(s[0], top), logical_and(isnan(s[0]), isnan(top)));
               const Tensor share = to(tie, gy.dtype()) / sum(to(tie, gy.dtype()), axes, true);
               const Tensor weight = masked_fill(share, logical_not(tie), 0);
               const EnableGrad again(true);
               return detail::spread(gy, shape, axes) * weight;
             });
  return in.dtype() == boolean ? to(y, boolean) : y;
}

Tensor indices(const char* op, Which which, const Tensor& in, int64_t axis, bool keepdim) {
  detail::check_defined(op, "x", in);
  const Tensor x = numbers(in);
  const auto l = detail::reduction_layout(op, x, axis);
  detail::check_not_empty(op, x, l);
  Tensor index = Tensor::empty(detail::reduced_shape(x.shape(), l.axes, keepdim), i64);
  if (index.numel() == 0) return index;
  visit(x.dtype(), [&](auto zero) {
    using T = decltype(zero);
    if constexpr (!std::is_same_v<T, uint8_t>) {
      Scratch<T> value(index.numel());
      extremes<T>(l, which, value.data(), index.data<int64_t>());
    }
  });
  return unrecorded(op, std::move(index), {x});
}

// Over all elements, in row-major order.
Tensor flat_index(const char* op, Which which, const Tensor& x) {
  detail::check_defined(op, "x", x);
  if (x.numel() == 0) detail::check_not_empty(op, x, detail::reduction_layout(op, x, {}));
  return indices(op, which, flatten(x.detach()), 0, false);
}

ValuesAndIndices both(const char* op, Which which, const Tensor& x, int64_t axis, bool keepdim) {
  Tensor index = indices(op, which, x, axis, true);
  if (x.dim() == 0) return {clone(x), index};
  Tensor value = gather(x, axis, index);  // its rule sends gy to the chosen element
  if (keepdim) return {value, index};
  return {squeeze(value, axis), squeeze(index, axis)};
}

}  // namespace

Tensor amax(const Tensor& x, const Axes& axes, bool keepdim) {
  return values("amax", Which::largest, x, axes, keepdim);
}
Tensor amin(const Tensor& x, const Axes& axes, bool keepdim) {
  return values("amin", Which::smallest, x, axes, keepdim);
}
Tensor max(const Tensor& x) { return values("max", Which::largest, x, {}, false); }
Tensor min(const Tensor& x) { return values("min", Which::smallest, x, {}, false); }
ValuesAndIndices max(const Tensor& x, int64_t axis, bool keepdim) {
  return both("max", Which::largest, x, axis, keepdim);
}
ValuesAndIndices min(const Tensor& x, int64_t axis, bool keepdim) {
  return both("min", Which::smallest, x, axis, keepdim);
}
Tensor argmax(const Tensor& x, int64_t axis, bool keepdim) {
  return indices("argmax", Which::largest, x, axis, keepdim);
}
Tensor argmin(const Tensor& x, int64_t axis, bool keepdim) {
  return indices("argmin", Which::smallest, x, axis, keepdim);
}
Tensor argmax(const Tensor& x) { return flat_index("argmax", Which::largest, x); }
Tensor argmin(const Tensor& x) { return flat_index("argmin", Which::smallest, x); }

bool any(const Tensor& x) {
  detail::check_dtype("any", "x", x, boolean);
  return kernels::any(detail::packed(x).data<uint8_t>(), x.numel());
}

bool all(const Tensor& x) {
  detail::check_dtype("all", "x", x, boolean);
  return kernels::all(detail::packed(x).data<uint8_t>(), x.numel());
}

}  // namespace fovea
