// The backward pass: an iterative walk over nodes.
//
//  1. Post-order from the root numbers every reachable node; in reverse, each node comes after all
//     its consumers. The order follows edges alone, never addresses.
//  2. Gradients wait in slots, an array indexed by that number. Two gradients that meet are added.
//  3. Saved tensors are dropped as soon as a node's vjp has run, unless the graph is retained.
//  4. Leaves get their .grad() last, so that an exception on the way leaves them untouched.
#include "fovea/core/engine.h"

#include <fmt/format.h>

#include "fovea/core/error.h"
#include "fovea/core/node.h"
#include "fovea/core/seam.h"
#include "fovea/core/trace.h"

namespace fovea {
namespace {

constinit thread_local bool anomaly_infinite = false;

uint32_t this_thread() {
  static std::atomic<uint32_t> next{1};
  thread_local const uint32_t id = next++;
  return id;
}

// Owns the marks that one call leaves in the nodes it walks. A call made from inside a vjp or a
// hook may meet the nodes of the outer one: it keeps their marks and puts them back.
class Walk {
 public:
  struct Entry {
    Node* node;
    uint32_t outer_call, outer_slot;  // of an enclosing call on this thread, else 0
    bool nested;
    bool needed;  // leads to something that wants a gradient
  };

  explicit Walk(Node* root) : call_(next_call++) {
    try {
      visit(root);
    } catch (...) {
      release();
      throw;
    }
  }
  ~Walk() { release(); }
  Walk(const Walk&) = delete;
  Walk& operator=(const Walk&) = delete;

  bool knows(const Node* n) const { return n->call == call_ && n->owner.load() == thread_; }
  std::vector<Entry>& entries() { return entries_; }

 private:
  struct Frame {
    Entry entry;
    uint32_t next;  // edge to look at
  };

  void claim(Node* n) {
    uint32_t owner = n->owner.load(std::memory_order_relaxed);
    const bool nested = owner == thread_;
    if (!nested && (owner != 0 ||
                    !n->owner.compare_exchange_strong(owner, thread_, std::memory_order_acquire))) {
      throw GraphError(
          fmt::format("backward: `{}` is being walked by another thread; graphs that share nodes "
                      "or leaves must be "
                      "differentiated one after the other",
                      n->op));
    }
    stack_.push_back({{n, n->call, n->slot, nested, true}, 0});
    n->call = call_;
    n->slot = kOpen;
  }

  // Post-order with a stack of our own. `slot` becomes the position in entries_.
  void visit(Node* root) {
    claim(root);
    while (!stack_.empty()) {
      Frame& f = stack_.back();
      Node* n = f.entry.node;
      if (f.next < n->edge_count) {
        Node* child = n->edges[f.next++];
        if (child && !knows(child)) claim(child);
      } else {
        n->slot = static_cast<uint32_t>(entries_.size());
        entries_.push_back(f.entry);
        stack_.pop_back();
      }
    }
  }

  static void unmark(const Entry& e) noexcept {
    e.node->call = e.outer_call;
    e.node->slot = e.outer_slot;
    if (!e.nested) e.node->owner.store(0, std::memory_order_release);
  }

  void release() noexcept {
    for (const Entry& e : entries_) unmark(e);
    for (const Frame& f : stack_) unmark(f.entry);
    entries_.clear();
    stack_.clear();
  }

  static constexpr uint32_t kOpen = 0xffffffff;
  static inline std::atomic<uint32_t> next_call{1};
  const uint32_t thread_ = this_thread();
  uint32_t call_;
  std::vector<Entry> entries_;
  std::vector<Frame> stack_;  // nodes whose inputs are being visited
};

bool sole_owner(const Tensor& t) {
  return t.impl()->refs.load(std::memory_order_acquire) == 1 &&
         t.impl()->storage->refs.load(std::memory_order_acquire) == 1;
}

class Pass {
 public:
  Pass(const Tensor& y, const GradOptions& o, bool create, bool retain)
      : root_(y), create_(create), retain_(retain), walk_(root_of(y)) {
    slots_.resize(walk_.entries().size());
    slots_.back() = first_gradient(y, o);
  }

  /// Keeps only the nodes that lead to one of these.
  void restrict_to(const Tensors& xs) {
    auto& all = walk_.entries();
    for (auto& e : all) e.needed = false;
    for (const Tensor& x : xs) {
      if (x.requires_grad() && walk_.knows(x.node())) all[x.node()->slot].needed = true;
    }
    for (auto& e : all) {  // post-order: inputs come before the nodes that use them
      for (uint32_t i = 0; i < e.node->edge_count && !e.needed; ++i) {
        const Node* to = e.node->edges[i];
        if (to && all[to->slot].needed) e.needed = true;
      }
    }
  }

  /// `arrive(node, gradient)` sees the complete gradient of every needed node.
  template <class Arrive>
  void run(const Arrive& arrive) {
    const EnableGrad mode(create_);
    const detail::TraceBackward traced;
    auto& all = walk_.entries();
    std::vector<Tensor> out(8);
    for (size_t i = all.size(); i-- > 0;) {
      Node& n = *all[i].node;
      if (!all[i].needed) continue;
      Tensor g = std::move(slots_[i]);
      if (!g.defined()) continue;
      if (n.extra && !n.extra->hooks.empty()) g = run_hooks(n, std::move(g));
      arrive(n, g);
      if (n.is_leaf || !inputs_needed(n)) continue;
      if (n.freed) {
        throw GraphError(fmt::format(
            "{}: backward a second time: its saved tensors were released by the first; pass "
            "retain_graph to the first call",
            n.op));
      }
      if (out.size() < n.edge_count) out.resize(n.edge_count);
      n.vjp(g, out.data());
      g = Tensor();
      if (!retain_) {
        n.release_saved();
        n.freed = true;
      }
      for (uint32_t k = 0; k < n.edge_count; ++k) deliver(n, k, std::move(out[k]));
    }
  }

 private:
  static Node* root_of(const Tensor& y) {
    if (!y.requires_grad()) {
      throw GraphError(
          "backward: the tensor requires no gradient: nothing it was computed from does; call "
          "requires_grad_() on the leaves and compute outside NoGrad");
    }
    return y.node();
  }

  static Tensor first_gradient(const Tensor& y, const GradOptions& o) {
    if (!o.upstream.defined()) {
      if (y.numel() != 1) {
        throw GraphError(fmt::format(
            "backward: the output is {}, a scalar is needed; pass an upstream gradient or sum() it",
            y.shape().str()));
      }
      return seam::ones(y.shape(), y.dtype());
    }
    if (!(o.upstream.shape() == y.shape()) || o.upstream.dtype() != y.dtype()) {
      throw ShapeError(fmt::format(
          "backward: upstream is {} {}, the output is {} {}; they must agree",
          o.upstream.shape().str(), name(o.upstream.dtype()), y.shape().str(), name(y.dtype())));
    }
    return o.upstream;
  }

  bool inputs_needed(const Node& n) {
    for (uint32_t k = 0; k < n.edge_count; ++k) {
      if (n.edges[k] && walk_.entries()[n.edges[k]->slot].needed) return true;
    }
    return false;
  }

  static Tensor run_hooks(Node& n, Tensor g) {
    for (size_t i = 0; i < n.extra->hooks.size(); ++i) {
      Tensor r = n.extra->hooks[i](g);
      if (!r.defined()) continue;
      if (!(r.shape() == g.shape()) || r.dtype() != g.dtype()) {
        throw ShapeError(fmt::format("hook on `{}`: returned {} {}, the gradient is {} {}", n.op,
                                     r.shape().str(), name(r.dtype()), g.shape().str(),
                                     name(g.dtype())));
      }
      g = std::move(r);
    }
    return g;
  }

  void deliver(const Node& from, uint32_t k, Tensor g) {
    Node* to = from.edges[k];
    if (!to || !g.defined()) return;
    const auto& e = walk_.entries()[to->slot];
    if (!e.needed) return;
    if (detail::anomaly_mode) detail::check_anomaly(from.op, "backward", g);
    if (g.dtype() != to->dtype || !(g.shape() == to->shape)) g = seam::fit(g, to->shape, to->dtype);
    Tensor& slot = slots_[to->slot];
    if (!slot.defined()) {
      slot = std::move(g);
    } else if (!create_ && slot.is_contiguous() && sole_owner(slot)) {
      seam::accumulate(slot, g);
    } else {
      slot = seam::add(slot, g);
    }
  }

  Tensor root_;  // keeps every node alive through the edges
  bool create_, retain_;
  Walk walk_;
  std::vector<Tensor> slots_;
};

// A gradient of its own: contiguous, and in storage nobody else writes or shows.
Tensor own(Tensor g, bool create_graph) {
  if (create_graph) return g.is_contiguous() && sole_owner(g) ? g : seam::copy(g);
  if (g.is_contiguous() && sole_owner(g) && !g.requires_grad()) return g;
  return seam::copy(g.detach());
}

}  // namespace

Tensors grad(const Tensor& y, const Tensors& xs, const GradOptions& o) {
  if (xs.empty()) return {};
  for (size_t i = 0; i < xs.size(); ++i) {
    if (!xs[i].requires_grad()) {
      throw GraphError(
          fmt::format("grad: input {} requires no gradient; call requires_grad_() before "
                      "computing the output",
                      i));
    }
  }
  Tensors out(xs.size());
  Pass pass(y, o, o.create_graph, o.retain_graph.value_or(o.create_graph));
  pass.restrict_to(xs);
  pass.run([&](const Node& n, const Tensor& g) {
    for (size_t i = 0; i < xs.size(); ++i) {
      if (xs[i].node() == &n) out[i] = g;
    }
  });
  for (size_t i = 0; i < xs.size(); ++i) {
    if (!out[i].defined() && !o.allow_unused) {
      throw GraphError(
          fmt::format("grad: the output does not depend on input {} {}; allow_unused "
                      "gives an undefined tensor instead",
                      i, xs[i].shape().str()));
    }
  }
  return out;
}

void backward(const Tensor& y, const GradOptions& o) {
  std::vector<std::pair<Node*, Tensor>> arrived;
  Pass pass(y, o, o.create_graph, o.retain_graph.value_or(o.create_graph));
  pass.run([&](Node& n, const Tensor& g) {
    if (n.is_leaf || (n.extra && n.extra->retain)) arrived.emplace_back(&n, g);
  });
  const EnableGrad mode(o.create_graph);
  for (auto& [node, g] : arrived) {
    Tensor& mine = node->need_extra().grad;
    if (!mine.defined()) {
      mine = own(std::move(g), o.create_graph);
    } else if (o.create_graph || mine.requires_grad() || !mine.is_contiguous() ||
               !(mine.impl()->storage->refs.load() == 1)) {
      mine = seam::add(mine, g);
    } else {
      seam::accumulate(mine, g);
    }
  }
}

AnomalyMode::AnomalyMode(Options options)
    : before_(std::exchange(detail::anomaly_mode, true)),
      before_infinite_(std::exchange(anomaly_infinite, options.infinite)) {}

AnomalyMode::~AnomalyMode() {
  detail::anomaly_mode = before_;
  anomaly_infinite = before_infinite_;
}

void detail::check_anomaly(const char* op, const char* when, const Tensor& t) {
  if (!t.is_floating()) return;
  struct Pause {  // looking takes operations, which would be looked at in turn
    bool before = std::exchange(anomaly_mode, false);
    ~Pause() { anomaly_mode = before; }
  };
  {
    const Pause pause;
    if (!seam::has_nonfinite(t, anomaly_infinite)) return;
  }
  throw GraphError(fmt::format("{}: {}: made a {} in its result {}; look at its inputs", op, when,
                               anomaly_infinite ? "NaN or infinity" : "NaN", t.shape().str()));
}

}  // namespace fovea
