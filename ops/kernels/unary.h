// Elementwise kernels of one argument: y[i] = f(x[i]) for i in [0, n).
//
// Contract, for all of them: plain loops over raw memory, on the calling thread; no allocation, no
// exception. x and y may be the same array and need no alignment; otherwise they must not overlap.
// n counts elements and may be 0. NaN in gives NaN out; +-inf, +-0, overflow and underflow give
// what the mathematical limit says (log(0) = -inf, exp(-inf) = 0, silu(-inf) = -0, log(-1) = NaN).
// Denormal inputs and results may count as 0. Accuracy is stated in ulp, units in the last place.
// The instruction set is chosen at run time; bits may differ between processors, never between
// positions in an array: f(x) does not depend on i or n.
#pragma once

#include <cstdint>

namespace fovea::kernels {

#define FOVEA_DECLARE_UNARY(name)                      \
  void name(const float* x, float* y, std::int64_t n); \
  void name(const double* x, double* y, std::int64_t n);

// Exact or rounded once.
FOVEA_DECLARE_UNARY(neg)         // -x
FOVEA_DECLARE_UNARY(abs)         // |x|
FOVEA_DECLARE_UNARY(sign)        // -1, 0 or 1
FOVEA_DECLARE_UNARY(square)      // x^2
FOVEA_DECLARE_UNARY(reciprocal)  // 1 / x
FOVEA_DECLARE_UNARY(sqrt)        // NaN below 0
FOVEA_DECLARE_UNARY(rsqrt)       // 1 / sqrt(x), rounded twice
FOVEA_DECLARE_UNARY(floor)
FOVEA_DECLARE_UNARY(ceil)
FOVEA_DECLARE_UNARY(round)  // half to even
FOVEA_DECLARE_UNARY(trunc)
FOVEA_DECLARE_UNARY(relu)  // max(x, 0)

// Within 3 ulp; sin and cos within 4 ulp or half an epsilon.
FOVEA_DECLARE_UNARY(exp)
FOVEA_DECLARE_UNARY(exp2)   // 2^x, exact at integers
FOVEA_DECLARE_UNARY(expm1)  // exp(x) - 1
FOVEA_DECLARE_UNARY(log)
FOVEA_DECLARE_UNARY(log2)  // exact at powers of two
FOVEA_DECLARE_UNARY(log10)
FOVEA_DECLARE_UNARY(log1p)  // log(1 + x)
FOVEA_DECLARE_UNARY(sin)    // radians
FOVEA_DECLARE_UNARY(cos)    // radians
FOVEA_DECLARE_UNARY(tanh)
FOVEA_DECLARE_UNARY(erf)

// Activations: within 4 ulp, mish 5, gelu 8; gelu_tanh within 4 ulp or one epsilon. Where the true
// value is below 1000 times the smallest normal number, 0 may stand for it.
FOVEA_DECLARE_UNARY(sigmoid)      // 1 / (1 + exp(-x))
FOVEA_DECLARE_UNARY(log_sigmoid)  // log(sigmoid(x))
FOVEA_DECLARE_UNARY(softplus)     // log(1 + exp(x))
FOVEA_DECLARE_UNARY(silu)         // x sigmoid(x)
FOVEA_DECLARE_UNARY(mish)         // x tanh(softplus(x))
FOVEA_DECLARE_UNARY(elu)          // x above 0, exp(x) - 1 below
FOVEA_DECLARE_UNARY(gelu)         // x Phi(x), Phi the normal distribution function
FOVEA_DECLARE_UNARY(gelu_tanh)    // x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))) / 2

#undef FOVEA_DECLARE_UNARY

// Integers: arithmetic wraps, so neg and abs of the smallest value return it.
void neg(const std::int64_t* x, std::int64_t* y, std::int64_t n);
void abs(const std::int64_t* x, std::int64_t* y, std::int64_t n);
void sign(const std::int64_t* x, std::int64_t* y, std::int64_t n);
void square(const std::int64_t* x, std::int64_t* y, std::int64_t n);

}  // namespace fovea::kernels
