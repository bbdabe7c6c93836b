// Nonlinearities as objects, for Sequential. The functions of ops/ops.h do the work.
#pragma once

#include "fovea/ops/ops.h"

namespace fovea {

struct ReLU {
  Tensor operator()(const Tensor& x) const { return relu(x); }
};
struct Tanh {
  Tensor operator()(const Tensor& x) const { return tanh(x); }
};
struct Sigmoid {
  Tensor operator()(const Tensor& x) const { return sigmoid(x); }
};
struct GELU {
  Tensor operator()(const Tensor& x) const { return gelu(x); }
};
struct SiLU {
  Tensor operator()(const Tensor& x) const { return silu(x); }
};
struct Softplus {
  Tensor operator()(const Tensor& x) const { return softplus(x); }
};
struct Softmax {
  int64_t axis = -1;
  Tensor operator()(const Tensor& x) const { return softmax(x, axis); }
};
struct LogSoftmax {
  int64_t axis = -1;
  Tensor operator()(const Tensor& x) const { return log_softmax(x, axis); }
};
struct Flatten {
  int64_t start = 1, end = -1;
  Tensor operator()(const Tensor& x) const { return flatten(x, start, end); }
};

}  // namespace fovea
