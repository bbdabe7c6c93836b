// Writes the kernels of a table of elementwise functions. A table is a macro OPS(X) with one
// X(name, expression) a line, the expression in terms of the tag d and the vector x (and gy).
#pragma once

// Inside HWY_NAMESPACE, for each instruction set: name_f32 and name_f64.
#define FOVEA_UNARY_BODY(name, expression)                                                  \
  struct name##_op {                                                                        \
    template <class D, class V>                                                             \
    HWY_INLINE V operator()([[maybe_unused]] D d, V x) const {                              \
      return expression;                                                                    \
    }                                                                                       \
  };                                                                                        \
  void name##_f32(const float* x, float* y, int64_t n) { UnaryLoop(x, y, n, name##_op()); } \
  void name##_f64(const double* x, double* y, int64_t n) { UnaryLoop(x, y, n, name##_op()); }

// Once, outside: the public overloads, which pick the instruction set at run time.
#define FOVEA_UNARY_EXPORT(name, expression)              \
  HWY_EXPORT(name##_f32);                                 \
  HWY_EXPORT(name##_f64);                                 \
  void name(const float* x, float* y, std::int64_t n) {   \
    HWY_DYNAMIC_DISPATCH(name##_f32)(x, y, n);            \
  }                                                       \
  void name(const double* x, double* y, std::int64_t n) { \
    HWY_DYNAMIC_DISPATCH(name##_f64)(x, y, n);            \
  }

#define FOVEA_BACKWARD_BODY(name, expression)                                          \
  struct name##_backward_op {                                                          \
    template <class D, class V>                                                        \
    HWY_INLINE V operator()([[maybe_unused]] D d, V s, V gy) const {                   \
      return expression;                                                               \
    }                                                                                  \
  };                                                                                   \
  void name##_backward_f32(const float* s, const float* gy, float* gx, int64_t n) {    \
    BinaryLoop<1, 1>(s, gy, gx, n, name##_backward_op());                              \
  }                                                                                    \
  void name##_backward_f64(const double* s, const double* gy, double* gx, int64_t n) { \
    BinaryLoop<1, 1>(s, gy, gx, n, name##_backward_op());                              \
  }

#define FOVEA_BACKWARD_EXPORT(name, expression)                                         \
  HWY_EXPORT(name##_backward_f32);                                                      \
  HWY_EXPORT(name##_backward_f64);                                                      \
  void name##_backward(const float* s, const float* gy, float* gx, std::int64_t n) {    \
    HWY_DYNAMIC_DISPATCH(name##_backward_f32)(s, gy, gx, n);                            \
  }                                                                                     \
  void name##_backward(const double* s, const double* gy, double* gx, std::int64_t n) { \
    HWY_DYNAMIC_DISPATCH(name##_backward_f64)(s, gy, gx, n);                            \
  }
