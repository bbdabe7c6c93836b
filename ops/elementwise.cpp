#include "fovea/ops/elementwise.h"

#include <fmt/format.h>

#include <algorithm>

#include "fovea/ops/kernels/binary.h"

namespace fovea::detail {

bool wants_packing(const Tensor& x) {
  if (x.is_contiguous() || x.numel() < 64) return false;
  const auto c = collapse<1>(x.shape(), {&x.strides()});
  const int64_t s = c.strides[0][c.rank - 1];
  return s != 0 && s != 1;
}

Tensor map(const Tensor& x, const UnaryKernel& k) {
  const Tensor p = packed(x);
  Tensor y = empty_as(x);
  visit_floating(x.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const T* src = p.data<T>();
    T* dst = y.data<T>();
    parallel_for(x.numel(), kChunk, [&](int64_t b, int64_t e) {
      if constexpr (std::is_same_v<T, float>) {
        k.f32(src + b, dst + b, e - b);
      } else {
        k.f64(src + b, dst + b, e - b);
      }
    });
  });
  return y;
}

Tensor map_backward(const Tensor& s, const Tensor& gy, const UnaryBackwardKernel& k) {
  const Tensor ps = packed(s);
  const Tensor pg = packed(gy);
  Tensor gx = empty_as(s);
  visit_floating(s.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const T* a = ps.data<T>();
    const T* g = pg.data<T>();
    T* out = gx.data<T>();
    parallel_for(s.numel(), kChunk, [&](int64_t b, int64_t e) {
      if constexpr (std::is_same_v<T, float>) {
        k.f32(a + b, g + b, out + b, e - b);
      } else {
        k.f64(a + b, g + b, out + b, e - b);
      }
    });
  });
  return gx;
}

template <class In, class Out>
Tensor zip(const char* op, const Tensor& a, const Tensor& b, BinaryFn<In, Out> fn) {
  const In* pa = a.data<In>();
  const In* pb = b.data<In>();
  if (a.is_contiguous() && b.is_contiguous() && a.shape() == b.shape()) {
    Tensor y = Tensor::empty(a.shape(), dtype_of<Out>());
    Out* py = y.data<Out>();
    parallel_for(y.numel(), kChunk,
                 [&](int64_t s, int64_t e) { fn(pa + s, 1, pb + s, 1, py + s, e - s); });
    return y;
  }
  if (wants_packing(a)) return zip<In, Out>(op, packed(a), b, fn);
  if (wants_packing(b)) return zip<In, Out>(op, a, packed(b), fn);
  const Shape shape = broadcast_shapes(op, a.shape(), b.shape());
  shape.numel(op);
  Tensor y = Tensor::empty(shape, dtype_of<Out>());
  const Strides sa = broadcast_strides(a.shape(), a.strides(), y.shape());
  const Strides sb = broadcast_strides(b.shape(), b.strides(), y.shape());
  if (y.numel() == 0) return y;
  const auto c = collapse<3>(y.shape(), {&sa, &sb, &y.strides()});
  const int64_t ia = c.strides[0][c.rank - 1];
  const int64_t ib = c.strides[1][c.rank - 1];
  Out* py = y.data<Out>();
  for_rows(c, [&](const std::array<int64_t, 3>& off, int64_t begin, int64_t n) {
    fn(pa + off[0] + begin * ia, ia, pb + off[1] + begin * ib, ib, py + off[2] + begin, n);
  });
  return y;
}
template Tensor zip(const char*, const Tensor&, const Tensor&, BinaryFn<float, float>);
template Tensor zip(const char*, const Tensor&, const Tensor&, BinaryFn<double, double>);
template Tensor zip(const char*, const Tensor&, const Tensor&, BinaryFn<int64_t, int64_t>);
template Tensor zip(const char*, const Tensor&, const Tensor&, BinaryFn<float, uint8_t>);
template Tensor zip(const char*, const Tensor&, const Tensor&, BinaryFn<double, uint8_t>);
template Tensor zip(const char*, const Tensor&, const Tensor&, BinaryFn<int64_t, uint8_t>);
template Tensor zip(const char*, const Tensor&, const Tensor&, BinaryFn<uint8_t, uint8_t>);

Tensor as_floating(const Tensor& x) { return x.is_floating() ? x : to(x, f32); }

Promoted promoted(const char* op, const Tensor& a, const Tensor& b, const char* a_name,
                  const char* b_name) {
  check_defined(op, a_name, a);
  check_defined(op, b_name, b);
  const DType t = promote(a.dtype(), b.dtype());
  return {to(a, t), to(b, t)};
}

Tensor operand(const char* op, const char* arg, const Tensor& x, Scalar value) {
  check_defined(op, arg, x);
  return scalar(value, value.promoted(x.dtype()));
}

void check_divisor(const char* op, const Tensor& b) {
  if (b.is_floating()) return;
  const Tensor p = packed(to(b, i64));
  if (!kernels::contains_zero(p.data<int64_t>(), 1, p.numel())) return;
  throw ValueError(
      fmt::format("{}: b is {} {} and holds a zero; integers have no quotient by 0, convert with "
                  "to(f32)",
                  op, name(b.dtype()), b.shape().str()));
}

Tensor unary(const UnaryRule& r, const Tensor& in) {
  check_defined(r.name, "x", in);
  const Tensor x = as_floating(in);
  Tensor y = map(x, r.forward);
  const Save save = r.saves_output ? save_output(y) : save_input("x", x);
  return record(r.name, std::move(y), {x}, {save},
                [formula = r.formula, fused = r.fused](const Saved& s, const Tensor& gy) {
                  return use_formula() ? formula(s[0], gy) : map_backward(s[0], gy, fused);
                });
}

}  // namespace fovea::detail
