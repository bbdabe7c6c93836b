#include "fovea/core/node.h"

#include <fmt/format.h>

#include "fovea/core/error.h"
#include "fovea/core/seam.h"

namespace fovea {

void destroy_node(Node* n) {
  const size_t bytes = n->bytes_;
  n->~Node();
  detail::deallocate(n, bytes);
}

// Releasing a node may release its inputs' nodes, theirs, and so on, directly or through the
// tensors it saved. Only the outermost call destroys; the inner ones add to its list.
void Node::release() {
  if (refs_.load(std::memory_order_acquire) != 1 &&
      refs_.fetch_sub(1, std::memory_order_acq_rel) != 1) {
    return;
  }
  static constinit thread_local Node* dead = nullptr;
  static constinit thread_local bool draining = false;
  next_dead_ = dead;
  dead = this;
  if (draining) return;
  draining = true;
  while (Node* n = dead) {
    dead = n->next_dead_;
    n->release_saved();
    for (uint32_t i = 0; i < n->edge_count; ++i) {
      if (n->edges[i]) n->edges[i]->release();
    }
    destroy_node(n);
  }
  draining = false;
}

void Node::release_saved() {
  for (uint32_t i = 0; i < saved_count; ++i) saved[i].~SavedSlot();
  saved_count = 0;
}

LeafNode* LeafNode::make(const Shape& shape, DType dtype) {
  void* p = detail::allocate(sizeof(LeafNode));
  auto* n = new (p) LeafNode("leaf", shape, dtype, sizeof(LeafNode));
  n->is_leaf = true;
  return n;
}

const Tensor& Saved::operator[](int i) const {
  const Node::SavedSlot& s = node_.saved[i];
  if (s.kind == Save::Kind::nothing) return s.tensor;
  if (s.tensor.version() != s.version) {
    throw GraphError(fmt::format(
        "{}: backward: saved tensor `{}` {} was changed in place (version {} when saved, {} now); "
        "clone it first",
        node_.op, s.name, s.tensor.shape().str(), s.version, s.tensor.version()));
  }
  if (s.kind != Save::Kind::output || !grad_recording()) return s.tensor;
  if (!output_.defined()) {
    output_ = s.tensor.alias(s.tensor.shape(), s.tensor.strides());
    node_.retain();
    detail::set_node(output_, &node_);
  }
  return output_;
}

bool Saved::wants(int i) const { return node_.edges[i] != nullptr; }

void NotDifferentiable::operator()(const Saved&, const Tensor&) const {
  throw GraphError(
      fmt::format("{}: has no gradient; detach() its input where none is meant to flow", op));
}

namespace detail {

void wrong_gradient_count(const char* op, size_t got, size_t want) {
  throw GraphError(fmt::format("{}: backward gave {} gradients for {} inputs; return one an input",
                               op, got, want));
}

void attach(Node& n, const Tensor& y, const Inputs& in, const Saves& saves) {
  n.edge_count = static_cast<uint32_t>(in.size());
  for (size_t i = 0; i < in.size(); ++i) {
    Node* to = in[i].requires_grad() ? in[i].node() : nullptr;
    if (to) to->retain();
    n.edges[i] = to;
  }
  n.saved_count = static_cast<uint32_t>(saves.size());
  for (size_t i = 0; i < saves.size(); ++i) {
    auto* slot = new (&n.saved[i]) Node::SavedSlot;
    const Save& s = saves[i];
    slot->kind = s.kind;
    if (s.kind == Save::Kind::nothing) continue;
    slot->name = s.name;
    const Tensor& t = s.kind == Save::Kind::output ? y : *s.tensor;
    if (s.kind == Save::Kind::input) {
      slot->tensor = t;
    } else {  // outside the graph: no cycle through the result, no gradient into a constant
      slot->tensor = t.alias(t.shape(), t.strides());
      slot->tensor.impl()->saved_output = true;
      t.impl()->storage->saved.fetch_add(1, std::memory_order_relaxed);
    }
    slot->version = t.version();
  }
}

}  // namespace detail
}  // namespace fovea
