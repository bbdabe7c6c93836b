// The autograd methods of Tensor.
#include <fmt/format.h>

#include "fovea/core/engine.h"
#include "fovea/core/error.h"
#include "fovea/core/node.h"

namespace fovea {
namespace {

Node& need_node(const char* op, const Tensor& t) {
  if (t.requires_grad()) return *t.node();
  throw GraphError(
      fmt::format("{}: the tensor requires no gradient; call requires_grad_() first", op));
}

}  // namespace

bool Tensor::is_leaf() const { return !requires_grad() || impl_->node->is_leaf; }

const Tensor& Tensor::requires_grad_(bool on) const {
  if (on == requires_grad()) return *this;
  if (!on && !is_leaf()) {
    throw GraphError(
        fmt::format("requires_grad_: the tensor was made by `{}`; use detach() to leave the graph",
                    node()->op));
  }
  if (on && !is_floating()) {
    throw DTypeError(
        fmt::format("requires_grad_: the tensor is {}; only floats have gradients", name(dtype())));
  }
  detail::set_node(*this, on ? LeafNode::make(shape(), dtype()) : nullptr);
  return *this;
}

Tensor Tensor::detach() const { return alias(shape(), strides()); }

Tensor Tensor::grad() const {
  if (!requires_grad() || !node()->extra) return {};
  return node()->extra->grad;
}

void Tensor::set_grad(Tensor g) const {
  if (!g.defined() && !(requires_grad() && node()->extra)) return;
  Node& n = need_node("set_grad", *this);
  if (g.defined() && (!(g.shape() == shape()) || g.dtype() != dtype())) {
    throw ShapeError(fmt::format("set_grad: the gradient is {} {}, the tensor is {} {}",
                                 g.shape().str(), name(g.dtype()), shape().str(), name(dtype())));
  }
  n.need_extra().grad = std::move(g);
}

void Tensor::retain_grad() const { need_node("retain_grad", *this).need_extra().retain = true; }

void Tensor::register_hook(std::function<Tensor(const Tensor&)> hook) const {
  need_node("register_hook", *this).need_extra().hooks.push_back(std::move(hook));
}

void Tensor::backward(const Tensor& upstream, bool retain_graph, bool create_graph) const {
  GradOptions o;
  o.upstream = upstream;
  o.retain_graph = retain_graph || create_graph;
  o.create_graph = create_graph;
  fovea::backward(*this, o);
}

}  // namespace fovea
