// A model as a function of its parameters, as torch.func.functional_call.
#pragma once

#include <utility>
#include <vector>

#include "fovea/nn/module.h"

namespace fovea {

/// While it lives, the named parameters and buffers of the model are these tensors: results of
/// operations, say, whose gradients then reach what they were computed from. Names that are tied
/// are replaced together. The old ones return when it ends. ShapeError listing all names that the
/// model does not have and all shapes that differ, ValueError when two names of one tied tensor get
/// different tensors; then nothing was replaced. One thread at a time may use the model meanwhile.
class ReplacedParameters {
 public:
  ReplacedParameters(Module& model, const NamedTensors& values);
  ~ReplacedParameters();
  ReplacedParameters(const ReplacedParameters&) = delete;
  ReplacedParameters& operator=(const ReplacedParameters&) = delete;

 private:
  std::vector<std::pair<Tensor*, Tensor>> before_;  // member, what it held
};

/// The value of f() with the model's parameters replaced:
///
///     // the loss after one step of gradient descent, as a function of the first weights (MAML)
///     NamedTensors fast;
///     for (auto& [name, p] : net.named_parameters()) {
///       fast.emplace_back(name, p - lr * grad(loss, {p}, {.create_graph = true})[0]);
///     }
///     Tensor after = functional_call(net, fast, [&] { return cross_entropy(net(x), y); });
template <class F>
auto functional_call(Module& model, const NamedTensors& values, const F& f) {
  const ReplacedParameters scope(model, values);
  return f();
}

}  // namespace fovea
