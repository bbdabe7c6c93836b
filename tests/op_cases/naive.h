// The slow, obvious meaning of an operation: loops over plain doubles, to compare kernels with.
#pragma once

#include <cmath>
#include <cstdint>
#include <functional>
#include <vector>

#include "fovea/core/shape.h"

namespace fovea::cases {

/// Row-major elements as doubles; bools are 0 and 1.
struct NaiveTensor {
  Shape shape;
  std::vector<double> data;

  int64_t numel() const { return static_cast<int64_t>(data.size()); }
  /// The element at a full index. Axes of size 1 answer to any index, missing leading axes are
  /// skipped: that is broadcasting.
  double at(const Shape& index) const { return data[static_cast<size_t>(offset(index))]; }
  double& at(const Shape& index) { return data[static_cast<size_t>(offset(index))]; }

 private:
  int64_t offset(const Shape& index) const;
};

NaiveTensor filled(const Shape& shape, double value);
inline NaiveTensor scalar(double value) { return filled({}, value); }

/// Calls f with every index of the shape, in row-major order.
void each_index(const Shape& shape, const std::function<void(const Shape&)>& f);
/// A tensor of this shape with f(index) at every index.
NaiveTensor build(const Shape& shape, const std::function<double(const Shape&)>& f);

NaiveTensor map(const NaiveTensor& x, const std::function<double(double)>& f);
/// f of all operands, broadcast.
NaiveTensor zip(const NaiveTensor& a, const NaiveTensor& b,
                const std::function<double(double, double)>& f);

inline double sigmoid_of(double x) {
  return x < 0 ? std::exp(x) / (1 + std::exp(x)) : 1 / (1 + std::exp(-x));
}

using Values1d = std::vector<double>;
/// f of the elements along the axes, in row-major order; no axes means all.
NaiveTensor fold(const NaiveTensor& x, const std::vector<int64_t>& axes, bool keep,
                 const std::function<double(const Values1d&)>& f);
/// Replaces each line along the axis by f(line), which may have another length.
NaiveTensor along(const NaiveTensor& x, int64_t axis,
                  const std::function<Values1d(const Values1d&)>& f);

NaiveTensor matmul(const NaiveTensor& a, const NaiveTensor& b);
NaiveTensor permute(const NaiveTensor& x, const std::vector<int64_t>& order);
NaiveTensor reshape(const NaiveTensor& x, const Shape& shape);

}  // namespace fovea::cases
