// Who stands where, when attention compares Tq queries with Tk keys. What ALiBi, Shaw's vectors and
// T5's buckets are made of.
#pragma once

#include "fovea/core/tensor.h"

namespace fovea {

/// i64 (Tq, Tk): j - p, how far key j stands after query i; negative before it. Lower-right: the
/// last query stands at the last key, p = i + Tk - Tq. So a token decoded behind a cache sees the
/// same distances as in the whole sequence. ValueError for negative sizes.
Tensor distances(int64_t tq, int64_t tk);

}  // namespace fovea
