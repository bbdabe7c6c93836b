// Writes the kernels of a table of two-argument functions. A table is a macro OPS(X) with one
// X(name, body) a line.
#pragma once

#define FOVEA_BINARY_ARGUMENTS(In, Out) \
  const In *a, int64_t sa, const In *b, int64_t sb, Out *y, int64_t n

// Inside HWY_NAMESPACE, for each instruction set: a vector function of the tag d and vectors a, b.
#define FOVEA_BINARY_OP(name, expression)                           \
  struct name##_op {                                                \
    template <class D, class V>                                     \
    HWY_INLINE V operator()([[maybe_unused]] D d, V a, V b) const { \
      return expression;                                            \
    }                                                               \
  };
#define FOVEA_BINARY_BODY(name, suffix, T)              \
  void name##_##suffix(FOVEA_BINARY_ARGUMENTS(T, T)) {  \
    StridedBinaryLoop(a, sa, b, sb, y, n, name##_op()); \
  }

// The same for a scalar function of the elements a, b of type T.
#define FOVEA_PLAIN_OP(name, expression)         \
  struct name##_scalar_op {                      \
    template <class T>                           \
    HWY_INLINE auto operator()(T a, T b) const { \
      return expression;                         \
    }                                            \
  };
#define FOVEA_PLAIN_BODY(name, suffix, In, Out)              \
  void name##_##suffix(FOVEA_BINARY_ARGUMENTS(In, Out)) {    \
    PlainBinaryLoop(a, sa, b, sb, y, n, name##_scalar_op()); \
  }

// Once, outside: the public overload, which picks the instruction set at run time.
#define FOVEA_BINARY_EXPORT(name, suffix, In, Out)             \
  HWY_EXPORT(name##_##suffix);                                 \
  void name(FOVEA_BINARY_ARGUMENTS(In, Out)) {                 \
    HWY_DYNAMIC_DISPATCH(name##_##suffix)(a, sa, b, sb, y, n); \
  }
