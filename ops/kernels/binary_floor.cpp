// floor_divide and remainder of floating-point arrays, as Python's // and %.
//
// floor(a / b) of the rounded quotient can be off by one: fmod is exact, so both start from it.
#include <cmath>
#include <cstdint>

#include "fovea/ops/kernels/binary.h"

namespace fovea::kernels {
namespace {

// a - b floor(a / b); NaN for b = 0 and infinite a.
template <class T>
T remainder_of(T a, T b) {
  const T rest = std::fmod(a, b);
  if (rest == 0) return std::copysign(rest, b);
  return (rest < 0) != (b < 0) ? rest + b : rest;  // a NaN stays one
}

// floor(a / b); inf or NaN for b = 0, as a / b.
template <class T>
T floor_quotient(T a, T b) {
  if (b == 0) return a / b;
  const T rest = std::fmod(a, b);
  T quotient = (a - rest) / b;  // an integer but for rounding
  if (rest != 0 && (b < 0) != (rest < 0)) quotient -= 1;
  if (quotient == 0) return std::copysign(T(0), a / b);
  const T below = std::floor(quotient);
  return quotient - below > T(0.5) ? below + 1 : below;
}

template <class T>
void floor_divide_all(const T* a, std::int64_t sa, const T* b, std::int64_t sb, T* y,
                      std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) y[i] = floor_quotient(a[i * sa], b[i * sb]);
}
template <class T>
void remainder_all(const T* a, std::int64_t sa, const T* b, std::int64_t sb, T* y, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) y[i] = remainder_of(a[i * sa], b[i * sb]);
}

}  // namespace

void floor_divide(const float* a, std::int64_t sa, const float* b, std::int64_t sb, float* y,
                  std::int64_t n) {
  floor_divide_all(a, sa, b, sb, y, n);
}
void floor_divide(const double* a, std::int64_t sa, const double* b, std::int64_t sb, double* y,
                  std::int64_t n) {
  floor_divide_all(a, sa, b, sb, y, n);
}
void remainder(const float* a, std::int64_t sa, const float* b, std::int64_t sb, float* y,
               std::int64_t n) {
  remainder_all(a, sa, b, sb, y, n);
}
void remainder(const double* a, std::int64_t sa, const double* b, std::int64_t sb, double* y,
               std::int64_t n) {
  remainder_all(a, sa, b, sb, y, n);
}

}  // namespace fovea::kernels
