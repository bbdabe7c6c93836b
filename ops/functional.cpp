#include "fovea/ops/functional.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <unordered_set>

#include "fovea/core/engine.h"
#include "fovea/ops/internal.h"

namespace fovea {
namespace {

using Map = std::function<Tensor(const Tensor&)>;

// A fresh leaf with x's elements, so that the caller's graph stays as it is.
Tensor leaf(const char* op, const Tensor& x) {
  detail::check_floating(op, "x", x);
  return x.detach().requires_grad_();
}

void need_like(const char* op, const char* of, const Tensor& v, const Tensor& x) {
  detail::check_defined(op, "v", v);
  if (v.shape() == x.shape() && v.dtype() == x.dtype()) return;
  throw ShapeError(fmt::format("{}: v is {} {}, {} is {} {}; they must agree", op, name(v.dtype()),
                               v.shape().str(), of, name(x.dtype()), x.shape().str()));
}

void need_scalar(const char* op, const Tensor& y) {
  if (y.numel() == 1) return;
  throw ShapeError(fmt::format("{}: f gives {}; one element is needed", op, y.shape().str()));
}

Tensor gradient(const Tensor& y, const Tensor& x, bool create_graph, Tensor upstream = {},
                bool retain = false) {
  if (!y.requires_grad()) return zeros_like(x);
  GradOptions o;
  o.create_graph = create_graph;
  o.retain_graph = retain || create_graph;
  o.allow_unused = true;
  o.upstream = std::move(upstream);
  const Tensor g = grad(y, {x}, o)[0];
  return g.defined() ? g : zeros_like(x);
}

Shape joined(const Shape& a, const Shape& b) {
  Shape s = a;
  for (int64_t n : b) s.push_back(n);
  return s;
}

// Rows d y_i / dx for every element of y, stacked: (y.numel, x.shape).
Tensor rows(const Tensor& y, const Tensor& x, bool create_graph) {
  Tensors out;
  for (int64_t i = 0; i < y.numel(); ++i) {
    Tensor unit = zeros({y.numel()}, y.dtype());
    unit.slice(0, i, i + 1).fill_(1);
    out.push_back(gradient(y, x, create_graph, reshape(unit, y.shape()), true));
  }
  if (out.empty()) return zeros(joined({0}, x.shape()), x.dtype());
  return stack(out);
}

}  // namespace

Tensor jacobian(const Map& f, const Tensor& in, bool create_graph) {
  const EnableGrad recording;
  detail::check_floating("jacobian", "x", in);
  const Tensor x = create_graph && in.requires_grad() ? in : leaf("jacobian", in);
  const Tensor y = f(x);
  return reshape(rows(y, x, create_graph), joined(y.shape(), x.shape()));
}

Tensor hessian(const Map& f, const Tensor& in) {
  const EnableGrad recording;
  const Tensor x = leaf("hessian", in);
  const Tensor y = f(x);
  need_scalar("hessian", y);
  const Tensor g = gradient(y, x, true);
  return reshape(rows(g, x, false), joined(x.shape(), x.shape())).detach();
}

Tensor hvp(const Map& f, const Tensor& in, const Tensor& v) {
  const EnableGrad recording;
  const Tensor x = leaf("hvp", in);
  need_like("hvp", "x", v, x);
  const Tensor y = f(x);
  need_scalar("hvp", y);
  return gradient(gradient(y, x, true), x, false, v);
}

Tensor jvp(const Map& f, const Tensor& in, const Tensor& v) {
  const EnableGrad recording;
  const Tensor x = leaf("jvp", in);
  need_like("jvp", "x", v, x);
  const Tensor y = f(x);
  const Tensor u = zeros_like(y).requires_grad_();
  return gradient(gradient(y, x, true, u), u, false, v);
}

namespace {

// A number that two results share only if they have the same bits, near enough.
uint64_t fingerprint(const Tensor& y) {
  const Tensor p = contiguous(y.detach());
  const auto bytes = static_cast<size_t>(p.numel() * item_size(p.dtype()));
  const auto* from = static_cast<const char*>(p.raw());
  uint64_t hash = 0xcbf29ce484222325;
  for (size_t i = 0; i < bytes; i += sizeof(uint64_t)) {
    uint64_t word = 0;
    std::memcpy(&word, from + i, std::min(sizeof word, bytes - i));
    hash = (hash ^ word) * 0x9e3779b97f4a7c15;
    hash ^= hash >> 32;  // or the high bits of a word, its exponent, would never reach the low ones
  }
  return hash;
}

// Restores the generator that f saw the first time, and puts the present one back.
class Replay {
 public:
  explicit Replay(const RandomKey& then) : now_(default_generator().state()) {
    default_generator().set_state(then);
  }
  ~Replay() { default_generator().set_state(now_); }
  Replay(const Replay&) = delete;
  Replay& operator=(const Replay&) = delete;

 private:
  RandomKey now_;
};

}  // namespace

namespace {

// GraphError when y depends on a leaf other than through the nodes of `inputs`.
void check_leaves(const Tensor& y, const Tensors& inputs) {
  std::unordered_set<const Node*> seen;
  for (const Tensor& x : inputs) seen.insert(x.node());
  std::vector<const Node*> next;
  const auto visit_node = [&](const Node* n) {
    if (n && seen.insert(n).second) next.push_back(n);
  };
  visit_node(y.node());
  while (!next.empty()) {
    const Node* n = next.back();
    next.pop_back();
    if (n->is_leaf) {
      throw GraphError(
          fmt::format("checkpoint: f uses a tensor of shape {} that requires a gradient and is not "
                      "among its inputs; pass it as one",
                      n->shape.str()));
    }
    for (uint32_t i = 0; i < n->edge_count; ++i) visit_node(n->edges[i]);
  }
}

}  // namespace

Tensor checkpoint(const TensorFunction& f, const Tensors& inputs) {
  if (std::none_of(inputs.begin(), inputs.end(),
                   [](const Tensor& x) { return x.requires_grad(); })) {
    const Tensor y = f(inputs);  // nothing to compute again
    if (y.requires_grad()) check_leaves(y, {});
    return y;
  }
  const RandomKey key = default_generator().state();
  Tensor y;
  {
    const NoGrad scope;
    y = f(inputs);
    if (y.requires_grad() ||
        std::any_of(inputs.begin(), inputs.end(), [&](const Tensor& x) { return y.same_as(x); })) {
      y = y.alias(y.shape(), y.strides());
    }
  }
  std::vector<Save> saves;
  for (const Tensor& x : inputs) saves.push_back(save_input("checkpoint input", x));
  return record(
      "checkpoint", y, inputs, saves,
      [f, key, first = fingerprint(y), n = inputs.size()](const Saved& s, const Tensor& gy) {
        const bool again = grad_recording();
        Tensors in;
        Tensors wanted;
        std::vector<size_t> at;
        for (size_t i = 0; i < n; ++i) {
          const bool wants = s.wants(static_cast<int>(i));
          Tensor x = s[static_cast<int>(i)];
          // A node of its own an input, whether or not inputs depend on each other; cut
          // off from the graph behind, unless this pass is differentiated in turn.
          x = again && wants ? view(x, x.shape()) : x.detach();
          if (!again && wants) x.requires_grad_();
          in.push_back(x);
          if (wants) {
            wanted.push_back(x);
            at.push_back(i);
          }
        }
        Tensors out(n);
        const EnableGrad recording;
        const Replay replay(key);
        const Tensor y2 = f(in);
        if (fingerprint(y2) != first) {
          throw GraphError(
              "checkpoint: f gave another result when it was called again; let it draw "
              "random numbers from the default generator and change no tensor in place");
        }
        if (!y2.requires_grad()) return out;
        check_leaves(y2, wanted);
        GradOptions o;
        o.create_graph = again;
        o.allow_unused = true;
        o.upstream = gy;
        const Tensors g = grad(y2, wanted, o);
        for (size_t k = 0; k < at.size(); ++k) out[at[k]] = g[k];
        return out;
      });
}

}  // namespace fovea
