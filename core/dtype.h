// The four element types, and how they promote.
#pragma once

#include <cstdint>
#include <string_view>
#include <type_traits>

namespace fovea {

/// In order of promotion: boolean < i64 < f32 < f64.
enum class DType : uint8_t { boolean, i64, f32, f64 };

inline constexpr DType boolean = DType::boolean;  ///< one byte, 0 or 1
inline constexpr DType i64 = DType::i64;
inline constexpr DType f32 = DType::f32;  ///< the default
inline constexpr DType f64 = DType::f64;

constexpr bool is_floating(DType t) { return t >= DType::f32; }
constexpr int64_t item_size(DType t) { return t == DType::boolean ? 1 : t == DType::f32 ? 4 : 8; }
constexpr std::string_view name(DType t) {
  return t == DType::boolean ? "bool" : t == DType::i64 ? "i64" : t == DType::f32 ? "f32" : "f64";
}
constexpr DType promote(DType a, DType b) { return a > b ? a : b; }

/// The DType of a C++ element type; bool elements are stored as uint8_t.
template <class T>
constexpr DType dtype_of() {
  if constexpr (std::is_same_v<T, float>) {
    return DType::f32;
  } else if constexpr (std::is_same_v<T, double>) {
    return DType::f64;
  } else if constexpr (std::is_same_v<T, int64_t>) {
    return DType::i64;
  } else {
    static_assert(std::is_same_v<T, bool> || std::is_same_v<T, uint8_t>,
                  "element types are float, double, int64_t and bool");
    return DType::boolean;
  }
}

/// Calls f with a value of the C++ type that stores t: `visit(t, [&](auto zero) { ... })`.
template <class F>
decltype(auto) visit(DType t, F&& f) {
  switch (t) {
    case DType::boolean:
      return f(uint8_t{0});
    case DType::i64:
      return f(int64_t{0});
    case DType::f32:
      return f(float{0});
    default:
      return f(double{0});
  }
}

/// The same for the two floating types; the caller has checked is_floating(t).
template <class F>
decltype(auto) visit_floating(DType t, F&& f) {
  return t == DType::f64 ? f(double{0}) : f(float{0});
}

/// A C++ number given where a tensor could stand. It never widens a float tensor: f32 * 2.5 stays
/// f32, i64 * 2 stays i64, i64 * 2.5 gives f32.
struct Scalar {
  enum class Kind : uint8_t { boolean, integer, floating } kind;
  double real;      ///< the value as a double
  int64_t integer;  ///< the exact value where kind is not floating

  template <class T>
  requires std::is_arithmetic_v<T>
  constexpr Scalar(T v)  // NOLINT(google-explicit-constructor): `x * 2` must read like that
      : kind(std::is_same_v<T, bool>       ? Kind::boolean
             : std::is_floating_point_v<T> ? Kind::floating
                                           : Kind::integer),
        real(static_cast<double>(v)),
        integer(std::is_floating_point_v<T> ? 0 : static_cast<int64_t>(v)) {}

  template <class T>
  constexpr T as() const {
    return kind == Kind::floating ? static_cast<T>(real) : static_cast<T>(integer);
  }

  /// The dtype of `tensor op scalar` for a tensor of dtype t.
  constexpr DType promoted(DType t) const {
    if (kind == Kind::floating) return is_floating(t) ? t : DType::f32;
    if (kind == Kind::integer) return promote(t, DType::i64);
    return t;
  }
};

}  // namespace fovea
