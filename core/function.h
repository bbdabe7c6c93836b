// Operations defined by users: a struct with forward, backward and whatever they share.
//
//     struct Clip {
//       static constexpr const char* name = "clip";
//       double limit = 1;
//       Tensor forward(SaveList& save, const Tensor& x) {
//         save.input("x", x);
//         return clamp(x, -limit, limit);
//       }
//       Tensor backward(const Saved& s, const Tensor& gy) { return gy * (abs(s[0]) <= limit); }
//     };
//     Tensor y = apply(Clip{.limit = 2}, x);
//
// forward runs without recording. backward may use any operation, so a second derivative exists
// when the formula in it is differentiable. With several inputs backward returns grads(gx, gy,
// ...). Source of the idea: torch.autograd.Function; the members replace its ctx attributes.
#pragma once

#include <deque>

#include "fovea/core/node.h"

namespace fovea {

/// What forward() keeps for backward().
class SaveList {
 public:
  void input(const char* name, const Tensor& x) { list_.push_back(save_input(name, keep(x))); }
  void output(const Tensor& y) { list_.push_back(save_output(y)); }
  void extra(const char* name, const Tensor& t) { list_.push_back(save_extra(name, keep(t))); }
  const std::vector<Save>& list() const { return list_; }

 private:
  const Tensor& keep(const Tensor& t) { return handles_.emplace_back(t); }
  std::deque<Tensor> handles_;
  std::vector<Save> list_;
};

/// Runs op.forward(save, inputs...) and records op.backward(saved, gy). All inputs are tensors;
/// what else the operation needs are members of op, which is kept for the backward pass.
template <class Op, class... In>
Tensor apply(Op op, const In&... inputs) {
  SaveList saves;
  Tensor y;
  {
    const NoGrad scope;
    y = op.forward(saves, inputs...);
    // An identity returns its input: the result needs a handle of its own to carry the new node.
    if (y.requires_grad() || (y.same_as(inputs) || ...)) y = y.alias(y.shape(), y.strides());
  }
  return record(Op::name, std::move(y), {inputs...}, saves.list(),
                [op = std::move(op)](const Saved& s, const Tensor& gy) mutable {
                  return op.backward(s, gy);
                });
}

}  // namespace fovea
