// Normalisation of rows, by which all norms of activations are computed. Not public.
#pragma once

#include "fovea/ops/internal.h"

namespace fovea::detail {

struct NormalizeRows {
  double eps = 1e-5;
  bool centred = true;    ///< subtract the mean
  bool variance = false;  ///< whether the caller wants it
};
struct NormalizedRows {
  Tensor y;         ///< (..., D), recorded as `op`
  Tensor mean;      ///< (rows), 0 when not centred; unrecorded, as the variance
  Tensor variance;  ///< (rows), of all D elements; undefined unless asked for
};
/// y = (x - mean) / sqrt(variance + eps) weight + bias over the last axis, which has elements.
/// weight and bias (D) may be undefined.
NormalizedRows normalize_rows(const char* op, const Tensor& x, const Tensor& weight,
                              const Tensor& bias, const NormalizeRows& o);
/// DTypeError, ShapeError or ValueError unless the rows of x can be normalised.
void check_rows(const char* op, const Tensor& x, double eps);

}  // namespace fovea::detail
