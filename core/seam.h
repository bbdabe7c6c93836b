// The seam between core/ and ops/: all that the engine and gradcheck need of operations. Declared
// here, defined in ops/seam.cpp, so that core/ includes nothing above it.
#pragma once

#include "fovea/core/tensor.h"

namespace fovea::seam {

/// a + b, same shape and dtype; recorded when recording is on.
Tensor add(const Tensor& a, const Tensor& b);
/// acc += x without recording; acc is contiguous and owned by the caller alone.
void accumulate(const Tensor& acc, const Tensor& x);
/// Sums broadcast axes away and converts, so that the result has exactly this shape and dtype. The
/// one place where broadcasting meets gradients. Returns g itself when it fits already.
Tensor fit(const Tensor& g, const Shape& shape, DType dtype);
/// sum(a * b), a scalar; recorded when recording is on.
Tensor inner(const Tensor& a, const Tensor& b);
Tensor ones(const Shape& shape, DType dtype);
/// Standard normal numbers that depend on the seed and the element's index alone.
Tensor normal(const Shape& shape, DType dtype, uint64_t seed);
/// A contiguous copy with storage of its own; recorded when recording is on.
Tensor copy(const Tensor& x);
/// Whether any element is NaN (or, when asked, infinite).
bool has_nonfinite(const Tensor& x, bool infinite);

}  // namespace fovea::seam
