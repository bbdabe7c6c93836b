// Running sums, products and log-sum-exps: each element needs the one before, so these are scalar.
#include <cmath>
#include <limits>

#include "fovea/ops/kernels/reduce.h"

namespace fovea::kernels {

namespace {

template <class Acc, class T>
void run_sum(const T* x, T* y, int64_t n, bool reverse) {
  Acc total = 0;
  for (int64_t k = 0; k < n; ++k) {
    const int64_t i = reverse ? n - 1 - k : k;
    total += static_cast<Acc>(x[i]);
    y[i] = static_cast<T>(total);
  }
}

template <class Acc, class T>
void run_product(const T* x, T* y, int64_t n) {
  Acc total = 1;
  for (int64_t i = 0; i < n; ++i) {
    total *= static_cast<Acc>(x[i]);
    y[i] = static_cast<T>(total);
  }
}

// Invariant: top is the largest x so far, total = sum exp(x_j - top). An infinite top is left out
// of the subtraction, as inf - inf would be NaN: exp(x_j) is then already 0 or inf.
template <class T>
void run_logsumexp(const T* x, T* y, int64_t n) {
  double top = -std::numeric_limits<double>::infinity();
  double total = 0;
  for (int64_t i = 0; i < n; ++i) {
    const double v = static_cast<double>(x[i]);
    if (v > top) {
      total = std::isinf(top) || std::isinf(v) ? std::exp(v - (std::isinf(v) ? 0 : v))
                                               : total * std::exp(top - v) + 1;
      top = v;
    } else {
      total += std::exp(v - (std::isinf(top) ? 0 : top));  // v is NaN, or at most top
    }
    y[i] = static_cast<T>((std::isinf(top) ? 0 : top) + std::log(total));
  }
}

}  // namespace

void cumsum(const float* x, float* y, int64_t n, bool reverse) {
  run_sum<double>(x, y, n, reverse);
}
void cumsum(const double* x, double* y, int64_t n, bool reverse) {
  run_sum<double>(x, y, n, reverse);
}
void cumsum(const int64_t* x, int64_t* y, int64_t n, bool reverse) {
  run_sum<uint64_t>(x, y, n, reverse);
}

void cumprod(const float* x, float* y, int64_t n) { run_product<double>(x, y, n); }
void cumprod(const double* x, double* y, int64_t n) { run_product<double>(x, y, n); }
void cumprod(const int64_t* x, int64_t* y, int64_t n) { run_product<uint64_t>(x, y, n); }

void logcumsumexp(const float* x, float* y, int64_t n) { run_logsumexp(x, y, n); }
void logcumsumexp(const double* x, double* y, int64_t n) { run_logsumexp(x, y, n); }

}  // namespace fovea::kernels
