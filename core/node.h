// Node: one operation that happened, and how gradients flow back through it.
//
//     Node = { op name, edges to the nodes of its inputs, saved tensors, vjp }
//
// An edge carries no bytes. What an operation keeps for its gradient is the explicit list of saves,
// so a reader sees what it costs. record() builds a node; core/engine.cpp walks them.
#pragma once

#include <array>
#include <memory>
#include <new>
#include <type_traits>

#include "fovea/core/allocator.h"
#include "fovea/core/tensor.h"
#include "fovea/core/trace.h"

namespace fovea {

// ------------------------------------------------------------------ what record() is told

/// An input of an operation; binds to the caller's handle without copying it.
struct Input {
  Input(const Tensor& t) : tensor(&t) {}  // NOLINT(google-explicit-constructor)
  const Tensor* tensor;
};

/// A list of inputs: `{a, b}`, or a vector of tensors.
class Inputs {
 public:
  Inputs(std::initializer_list<Input> list)  // NOLINT(google-explicit-constructor)
      : inputs_(std::data(list)), count_(list.size()) {}
  Inputs(const Tensors& list)  // NOLINT(google-explicit-constructor)
      : tensors_(list.data()), count_(list.size()) {}
  size_t size() const { return count_; }
  const Tensor& operator[](size_t i) const { return inputs_ ? *inputs_[i].tensor : tensors_[i]; }

 private:
  const Input* inputs_ = nullptr;
  const Tensor* tensors_ = nullptr;
  size_t count_;
};

/// One tensor kept for the gradient; see save_input, save_output, save_extra, save_if.
struct Save {
  enum class Kind : uint8_t { nothing, input, output, extra } kind = Kind::nothing;
  const char* name = "";
  const Tensor* tensor = nullptr;
};
/// Keeps an input and its version: changing it in place makes backward() raise.
inline Save save_input(const char* name, const Tensor& x) { return {Save::Kind::input, name, &x}; }
/// Keeps the result, the y given to record(), without its node (no reference cycle); the engine
/// re-attaches the node when the vjp itself is differentiated.
inline Save save_output(const Tensor&) { return {Save::Kind::output, "output", nullptr}; }
/// Keeps a tensor that is neither: a mask, a row statistic. It is treated as a constant.
inline Save save_extra(const char* name, const Tensor& t) { return {Save::Kind::extra, name, &t}; }
/// Keeps nothing when no gradient needs it; the slot then reads as an undefined tensor.
inline Save save_if(bool wanted, const Save& s) { return wanted ? s : Save{}; }

class Saves {
 public:
  Saves(std::initializer_list<Save> list)  // NOLINT(google-explicit-constructor)
      : data_(std::data(list)), count_(list.size()) {}
  Saves(const std::vector<Save>& list)  // NOLINT(google-explicit-constructor)
      : data_(list.data()), count_(list.size()) {}
  size_t size() const { return count_; }
  const Save& operator[](size_t i) const { return data_[i]; }

 private:
  const Save* data_;
  size_t count_;
};

// ------------------------------------------------------------------ what a vjp sees

/// The saved tensors of a node, as its vjp sees them: `s[0]` is the first Save.
class Saved {
 public:
  explicit Saved(Node& node) : node_(node) {}
  /// The i-th saved tensor; GraphError when it was changed in place since.
  const Tensor& operator[](int i) const;
  /// Whether the gradient of input i is wanted; an unwanted one may be left undefined.
  bool wants(int i) const;

 private:
  Node& node_;
  mutable Tensor output_;  // the saved output with its node again
};

/// The gradients of several inputs, in their order: `return grads(ga, gb);`
template <class... T>
std::array<Tensor, sizeof...(T)> grads(T&&... g) {
  return {Tensor(std::forward<T>(g))...};
}

// ------------------------------------------------------------------ Node

using Hook = std::function<Tensor(const Tensor&)>;

class Node {
 public:
  struct SavedSlot {
    Tensor tensor;
    const char* name = "";
    uint32_t version = 0;
    Save::Kind kind = Save::Kind::nothing;
  };
  /// What few nodes have.
  struct Extra {
    std::vector<Hook> hooks;
    Tensor grad;  // a leaf's .grad(), or what retain_grad() asked for
    bool retain = false;
  };

  const char* op;
  Shape shape;  ///< of the output
  DType dtype;
  bool is_leaf = false;
  bool freed = false;  ///< saves were released by an earlier backward()
  uint32_t edge_count = 0;
  uint32_t saved_count = 0;
  Node** edges = nullptr;  ///< owned references; null where no gradient is wanted
  SavedSlot* saved = nullptr;
  std::unique_ptr<Extra> extra;

  // Written by the engine for the call that walks this node now.
  std::atomic<uint32_t> owner{0};  ///< the thread that walks it, 0 when none does
  uint32_t call = 0;
  uint32_t slot = 0;

  /// Writes the gradient of each input to out[0 .. edge_count).
  virtual void vjp(const Tensor& gy, Tensor* out) = 0;

  void retain() { refs_.fetch_add(1, std::memory_order_relaxed); }
  /// Drops a reference. The last one releases the node and all it alone holds without recursion, so
  /// that a chain of a million nodes needs no stack.
  void release();
  void release_saved();
  Extra& need_extra() {
    if (!extra) extra = std::make_unique<Extra>();
    return *extra;
  }

  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;

 protected:
  Node(const char* op_name, const Shape& s, DType t, size_t bytes)
      : op(op_name), shape(s), dtype(t), bytes_(static_cast<uint32_t>(bytes)) {
    detail::count_nodes(1);
  }
  virtual ~Node() { detail::count_nodes(-1); }

 private:
  friend void destroy_node(Node* n);
  std::atomic<uint32_t> refs_{1};
  uint32_t bytes_;
  Node* next_dead_ = nullptr;
};

/// The node of a tensor that requires a gradient and that no operation made.
class LeafNode final : public Node {
 public:
  static LeafNode* make(const Shape& shape, DType dtype);
  void vjp(const Tensor&, Tensor*) override {}

 private:
  using Node::Node;
};

namespace detail {

[[noreturn]] void wrong_gradient_count(const char* op, size_t got, size_t want);
void attach(Node& n, const Tensor& y, const Inputs& in, const Saves& saves);

/// A node whose vjp is the closure F, kept in the node's own allocation with edges and saves.
template <class F>
class OpNode final : public Node {
 public:
  static OpNode* make(const char* op, const Tensor& y, const Inputs& in, const Saves& saves,
                      F&& f) {
    constexpr size_t kHead = (sizeof(OpNode) + 15) / 16 * 16;
    const size_t bytes = kHead + in.size() * sizeof(Node*) + saves.size() * sizeof(SavedSlot);
    char* p = static_cast<char*>(allocate(bytes));
    auto* n = new (p) OpNode(op, y.shape(), y.dtype(), bytes, std::move(f));
    n->saved = reinterpret_cast<SavedSlot*>(p + kHead);
    n->edges = reinterpret_cast<Node**>(p + kHead + saves.size() * sizeof(SavedSlot));
    attach(*n, y, in, saves);
    return n;
  }

  void vjp(const Tensor& gy, Tensor* out) override {
    const Saved s(*this);
    using R = std::invoke_result_t<F&, const Saved&, const Tensor&>;
    if constexpr (std::is_void_v<R>) {
      f_(s, gy);
    } else if constexpr (std::is_same_v<R, Tensor>) {
      out[0] = f_(s, gy);
    } else {
      auto g = f_(s, gy);
      if (g.size() != edge_count) wrong_gradient_count(op, g.size(), edge_count);
      for (size_t i = 0; i < g.size(); ++i) out[i] = std::move(g[i]);
    }
  }

 private:
  OpNode(const char* op, const Shape& s, DType t, size_t bytes, F&& f)
      : Node(op, s, t, bytes), f_(std::move(f)) {}
  F f_;
};

/// Whether the anomaly mode is on for this thread; then record() looks at every result.
inline constinit thread_local bool anomaly_mode = false;
void check_anomaly(const char* op, const char* when, const Tensor& t);
void set_node(const Tensor& t, Node* n);  // takes over the reference
void trace_shapes(const char* op, const Tensor& y, const Inputs& in, const Saves& saves);

}  // namespace detail

/// Ends an operation: hangs a node for `y` on the nodes of its inputs, when any of them requires a
/// gradient and recording is on. `y` must be fresh: no other handle has it. `op` must outlive it
/// all: a literal.
///
/// vjp(const Saved&, const Tensor& gy) returns the gradient of the only input as a Tensor, or of
/// all inputs as grads(...) or a vector. A gradient may have the broadcast shape, or a wider dtype:
/// the engine sums and converts it to the input's.
template <class Vjp>
Tensor record(const char* op, Tensor y, const Inputs& in, const Saves& saves, Vjp vjp) {
  if (detail::anomaly_mode) detail::check_anomaly(op, "forward", y);
  if (detail::shape_trace) detail::trace_shapes(op, y, in, saves);
  if (!detail::grad_mode || !y.is_floating()) return y;
  bool wanted = false;
  for (size_t i = 0; i < in.size() && !wanted; ++i) wanted = in[i].requires_grad();
  if (!wanted) return y;
  detail::set_node(y, detail::OpNode<Vjp>::make(op, y, in, saves, std::move(vjp)));
  return y;
}

/// Ends an operation that has no gradient to record: its result is of integers, truth values or
/// random draws.
inline Tensor unrecorded(const char* op, Tensor y, const Inputs& in) {
  if (detail::shape_trace) detail::trace_shapes(op, y, in, {});
  return y;
}

/// For a vjp with two bodies: whether to take the rule written in operations, because someone will
/// differentiate again or asked for it (FormulaRules), and not the fused one.
inline bool use_formula() { return detail::grad_mode || detail::formula_mode; }

/// For an operation without a gradient on floats: passing this as the vjp makes backward() raise a
/// GraphError that names it, instead of training on silently missing gradients.
struct NotDifferentiable {
  const char* op;
  void operator()(const Saved&, const Tensor&) const;
};
inline NotDifferentiable not_differentiable(const char* op) { return {op}; }

}  // namespace fovea
