// Random shapes, layouts and values for property tests, drawn by RapidCheck: a property that fails
// is shrunk to a smaller draw and printed. RapidCheck's headers are in arbitrary.cpp alone.
#pragma once

#include <limits>
#include <string>
#include <vector>

#include "fovea/core/tensor.h"
#include "tests/op_cases/naive.h"

namespace fovea::properties {

using cases::NaiveTensor;
using NaiveTensors = std::vector<NaiveTensor>;

inline constexpr double kInf = std::numeric_limits<double>::infinity();
inline constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

/// Uniform in low .. high.
int64_t draw(int64_t low, int64_t high);
/// True one time in n.
inline bool chance(int64_t n) { return draw(1, n) == 1; }
/// Abandons a draw that is outside what is promised.
void assume(bool holds);

/// Rank 0 to 4, sizes 1 to 4, and now and then 0; every second vector or matrix is larger, for
/// loops that take whole SIMD vectors.
Shape any_shape(int64_t min_rank = 0, int64_t max_rank = 4);
Shape without_zeros(Shape s);
/// A shape that broadcasts against s: some sizes 1, some leading axes missing.
Shape broadcastable(const Shape& s);
/// An axis in [-rank, rank); 0 or -1 for rank 0.
int64_t any_axis(int rank);
/// A random subset of the axes, from the last to the first, some counted from the end. An empty one
/// means all.
std::vector<int64_t> any_axes(int rank);
inline int from_front(int64_t axis, int rank) {
  return static_cast<int>(axis < 0 ? axis + rank : axis);
}

/// What the elements of a random tensor may be: in [low, high), in one tensor of four multiples of
/// 1/2, which meet kinks, ties and zeros; and here and there one of `specials`.
struct Numbers {
  double low = -2, high = 2;
  std::vector<double> specials = {};
};
/// f64 two times of three, else f32.
DType any_floating();
/// Floating, or now and then i64.
DType any_number();
/// Mostly floating.
DType any_dtype();
/// In any layout. Floats want a gradient; integers and bools are those of the range.
Tensor any_tensor(const Shape& shape, const Numbers& numbers = {}, DType dtype = f64);
inline Tensor any_floats(const Shape& shape, const Numbers& numbers = {}) {
  return any_tensor(shape, numbers, any_floating());
}
inline Tensor any_numbers(const Shape& shape) { return any_tensor(shape, {}, any_number()); }
/// Of any dtype and shape.
Tensor anything(int64_t min_rank = 0);
/// Whole numbers in [low, end), in any layout.
Tensor any_integers(const Shape& shape, int64_t low, int64_t end);
inline Tensor any_bools(const Shape& shape) { return any_tensor(shape, {0, 2}, boolean); }
/// The same elements in another layout, outside the graph.
Tensor laid_out_again(const Tensor& x);
/// Random upstream numbers for a result of this shape.
inline Tensor weights(const Shape& shape, DType dtype = f64) {
  return any_tensor(shape, {}, dtype).detach();
}

/// Ends the draw as a failure.
[[noreturn]] void fail(const std::string& why);
/// Fails unless all elements agree to 1e-10 (1e-5 in single precision) of themselves, of the
/// largest one and of 1.
void require_equal(const NaiveTensor& got, const NaiveTensor& want, const std::string& what,
                   bool single = false);
void require_equal(const Tensor& got, const NaiveTensor& want, const std::string& what,
                   bool single = false);

/// Sums g over the axes along which `shape` was broadcast.
NaiveTensor summed_to(const NaiveTensor& g, const Shape& shape);

}  // namespace fovea::properties
