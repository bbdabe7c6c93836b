// Elementwise kernels of two and three arguments: y[i] = f(a[i * sa], b[i * sb]) for i in [0, n).
//
// Strides count elements. Stride 1 (contiguous) and 0 (one value for all) take the vector path,
// any other, negative ones included, a plain loop. Only elements i * stride with 0 <= i < n are
// read. y is contiguous; it may be the same array as an input of stride 1 and the same type, and
// must not overlap an input otherwise. n may be 0. No allocation, no exception, calling thread
// only. bool is stored as one byte that holds 0 or 1.
#pragma once

#include <cstdint>

namespace fovea::kernels {

#define FOVEA_DECLARE_BINARY(name, In, Out) \
  void name(const In* a, std::int64_t sa, const In* b, std::int64_t sb, Out* y, std::int64_t n);

// IEEE arithmetic. minimum and maximum are NaN when either argument is.
#define FOVEA_DECLARE_FLOATING(name)       \
  FOVEA_DECLARE_BINARY(name, float, float) \
  FOVEA_DECLARE_BINARY(name, double, double)

FOVEA_DECLARE_FLOATING(add)
FOVEA_DECLARE_FLOATING(sub)
FOVEA_DECLARE_FLOATING(mul)
FOVEA_DECLARE_FLOATING(div)
FOVEA_DECLARE_FLOATING(minimum)
FOVEA_DECLARE_FLOATING(maximum)
FOVEA_DECLARE_FLOATING(pow)           // as C's pow: x^0 = 1^x = 1, NaN for a < 0 and fractional b
FOVEA_DECLARE_FLOATING(floor_divide)  // floor(a / b) as Python's //: exact, not floor of a rounding
FOVEA_DECLARE_FLOATING(remainder)     // a - b floor(a / b), which has the sign of b, as Python's %

// 64-bit integers: add, sub and mul wrap around. floor_divide and remainder round towards minus
// infinity; the caller must see to it that no b is 0 (contains_zero below), the result there is 0.
FOVEA_DECLARE_BINARY(add, std::int64_t, std::int64_t)
FOVEA_DECLARE_BINARY(sub, std::int64_t, std::int64_t)
FOVEA_DECLARE_BINARY(mul, std::int64_t, std::int64_t)
FOVEA_DECLARE_BINARY(minimum, std::int64_t, std::int64_t)
FOVEA_DECLARE_BINARY(maximum, std::int64_t, std::int64_t)
FOVEA_DECLARE_BINARY(floor_divide, std::int64_t, std::int64_t)
FOVEA_DECLARE_BINARY(remainder, std::int64_t, std::int64_t)
bool contains_zero(const std::int64_t* b, std::int64_t sb, std::int64_t n);

// Comparisons. Any comparison with NaN is false, except ne.
#define FOVEA_DECLARE_COMPARISON(name)                   \
  FOVEA_DECLARE_BINARY(name, float, std::uint8_t)        \
  FOVEA_DECLARE_BINARY(name, double, std::uint8_t)       \
  FOVEA_DECLARE_BINARY(name, std::int64_t, std::uint8_t) \
  FOVEA_DECLARE_BINARY(name, std::uint8_t, std::uint8_t)

FOVEA_DECLARE_COMPARISON(eq)
FOVEA_DECLARE_COMPARISON(ne)
FOVEA_DECLARE_COMPARISON(lt)
FOVEA_DECLARE_COMPARISON(le)
FOVEA_DECLARE_COMPARISON(gt)
FOVEA_DECLARE_COMPARISON(ge)

// Any non-zero byte counts as true; results are 0 or 1.
FOVEA_DECLARE_BINARY(logical_and, std::uint8_t, std::uint8_t)
FOVEA_DECLARE_BINARY(logical_or, std::uint8_t, std::uint8_t)
FOVEA_DECLARE_BINARY(logical_xor, std::uint8_t, std::uint8_t)
void logical_not(const std::uint8_t* x, std::uint8_t* y, std::int64_t n);

#undef FOVEA_DECLARE_COMPARISON
#undef FOVEA_DECLARE_FLOATING
#undef FOVEA_DECLARE_BINARY

// y[i] = c[i * sc] ? a[i * sa] : b[i * sb]. What is not chosen cannot reach y, NaN included.
#define FOVEA_DECLARE_WHERE(T)                                                                \
  void where(const std::uint8_t* c, std::int64_t sc, const T* a, std::int64_t sa, const T* b, \
             std::int64_t sb, T* y, std::int64_t n);
FOVEA_DECLARE_WHERE(float)
FOVEA_DECLARE_WHERE(double)
FOVEA_DECLARE_WHERE(std::int64_t)
FOVEA_DECLARE_WHERE(std::uint8_t)
#undef FOVEA_DECLARE_WHERE

// y += a x (one rounding where the processor fuses), y = a x, y += x. All contiguous; scale allows
// x == y.
#define FOVEA_DECLARE_UPDATES(T)                     \
  void axpy(T a, const T* x, T* y, std::int64_t n);  \
  void scale(T a, const T* x, T* y, std::int64_t n); \
  void add_inplace(T* y, const T* x, std::int64_t n);
FOVEA_DECLARE_UPDATES(float)
FOVEA_DECLARE_UPDATES(double)
#undef FOVEA_DECLARE_UPDATES

}  // namespace fovea::kernels
