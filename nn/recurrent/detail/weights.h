// The four tensors that recurrent layers and cells own, one set for each direction of each layer.
#pragma once

#include "fovea/nn/module.h"
#include "fovea/ops/ops.h"

namespace fovea::detail {

/// All U(-1/sqrt(hidden), 1/sqrt(hidden)), to be trained.
RecurrentWeights recurrent_weights(int64_t gates, int64_t in, int64_t hidden, bool bias, DType t);

/// Shows them as weight_ih, weight_hh, bias_ih and bias_hh, each with `suffix` behind.
void visit_weights(Visitor& v, RecurrentWeights& w, const std::string& suffix = "");

/// DTypeError naming the layer unless a tensor that it is called with has the dtype of its weights.
void check_dtypes(const char* layer, const char* arg, const Tensor& x, const RecurrentWeights& w);

}  // namespace fovea::detail
