// In-place arithmetic.
//
// The storage changes and its version goes up, so that a backward pass which saved the old value
// raises. While recording, the tensor takes the place of the result in the graph: its node is
// replaced. A leaf that requires a gradient changes only under NoGrad, and a tensor whose storage a
// view shares does not change while recording, because the view's node could not follow.
#include <fmt/format.h>

#include "fovea/ops/internal.h"

namespace fovea {
namespace {

void check_may_record(const char* op, const Tensor& x) {
  if (x.requires_grad() && x.is_leaf()) {
    throw GraphError(
        fmt::format("{}: the tensor is a leaf that requires a gradient; change it under "
                    "NoGrad, or clone() it first",
                    op));
  }
  const auto& storage = *x.impl()->storage;
  if (storage.refs.load() - storage.saved.load() > 1) {
    throw GraphError(
        fmt::format("{}: a view shares the storage of the tensor {}; use {} out of place, "
                    "or work under NoGrad",
                    op, x.shape().str(), std::string(op, std::char_traits<char>::length(op) - 1)));
  }
}

// compute(x) gives the new value. When the change is recorded, it is computed from a copy, so that
// what it saves stays as it was.
template <class F>
const Tensor& change(const char* op, const Tensor& x, bool other_requires_grad, const F& compute) {
  detail::check_defined(op, "x", x);
  if (x.overlaps_itself()) {
    throw GraphError(fmt::format("{}: several elements of x {} share memory; clone() it first", op,
                                 x.shape().str()));
  }
  const bool recording = grad_recording() && (x.requires_grad() || other_requires_grad);
  if (recording) check_may_record(op, x);
  Tensor y = compute(recording ? clone(x) : x);
  if (!(y.shape() == x.shape())) {
    throw ShapeError(fmt::format("{}: the result is {}, x is {} and cannot grow", op,
                                 y.shape().str(), x.shape().str()));
  }
  if (promote(y.dtype(), x.dtype()) != x.dtype()) {
    throw DTypeError(fmt::format("{}: the result is {}, x is {} and cannot hold it", op,
                                 name(y.dtype()), name(x.dtype())));
  }
  y = to(y, x.dtype());
  detail::copy_into(x, y);
  x.bump_version();
  if (recording) {
    Node* n = y.requires_grad() ? y.node() : nullptr;
    if (n) n->retain();
    detail::set_node(x, n);
  }
  return x;
}

}  // namespace

const Tensor& Tensor::add_(const Tensor& o) const {
  return change("add_", *this, o.requires_grad(), [&](const Tensor& x) { return add(x, o); });
}
const Tensor& Tensor::sub_(const Tensor& o) const {
  return change("sub_", *this, o.requires_grad(), [&](const Tensor& x) { return sub(x, o); });
}
const Tensor& Tensor::mul_(const Tensor& o) const {
  return change("mul_", *this, o.requires_grad(), [&](const Tensor& x) { return mul(x, o); });
}
const Tensor& Tensor::div_(const Tensor& o) const {
  return change("div_", *this, o.requires_grad(), [&](const Tensor& x) { return div(x, o); });
}
const Tensor& Tensor::add_(Scalar o) const {
  return change("add_", *this, false, [&](const Tensor& x) { return add(x, o); });
}
const Tensor& Tensor::sub_(Scalar o) const {
  return change("sub_", *this, false, [&](const Tensor& x) { return sub(x, o); });
}
const Tensor& Tensor::mul_(Scalar o) const {
  return change("mul_", *this, false, [&](const Tensor& x) { return mul(x, o); });
}
const Tensor& Tensor::div_(Scalar o) const {
  return change("div_", *this, false, [&](const Tensor& x) { return div(x, o); });
}

const Tensor& Tensor::copy_(const Tensor& o) const {
  detail::check_defined("copy_", "o", o);
  return change("copy_", *this, o.requires_grad(), [&](const Tensor& x) {
    return fovea::to(fovea::expand(o, broadcast_shapes("copy_", x.shape(), o.shape())), x.dtype());
  });
}

const Tensor& Tensor::fill_(Scalar value) const {
  return change("fill_", *this, false, [&](const Tensor& x) { return full_like(x, value); });
}

}  // namespace fovea
