#include "fovea/nn/recurrent/detail/weights.h"

#include <fmt/format.h>

#include <cmath>

#include "fovea/core/error.h"
#include "fovea/nn/init.h"

namespace fovea::detail {

RecurrentWeights recurrent_weights(int64_t gates, int64_t in, int64_t hidden, bool bias, DType t) {
  const double bound = 1 / std::sqrt(static_cast<double>(hidden));
  const auto parameter = [&](const Shape& shape) {
    const Tensor p = Tensor::empty(shape, t);
    init::uniform_(p, -bound, bound);
    return p.requires_grad_();
  };
  RecurrentWeights w;
  w.weight_ih = parameter({gates * hidden, in});
  w.weight_hh = parameter({gates * hidden, hidden});
  if (!bias) return w;
  w.bias_ih = parameter({gates * hidden});
  w.bias_hh = parameter({gates * hidden});
  return w;
}

void visit_weights(Visitor& v, RecurrentWeights& w, const std::string& suffix) {
  v("weight_ih" + suffix, w.weight_ih);
  v("weight_hh" + suffix, w.weight_hh);
  v("bias_ih" + suffix, w.bias_ih);
  v("bias_hh" + suffix, w.bias_hh);
}

void check_dtypes(const char* layer, const char* arg, const Tensor& x, const RecurrentWeights& w) {
  if (x.dtype() == w.weight_ih.dtype()) return;
  throw DTypeError(fmt::format("{}: {} is {}, the weights are {}; convert with to()", layer, arg,
                               name(x.dtype()), name(w.weight_ih.dtype())));
}

}  // namespace fovea::detail
