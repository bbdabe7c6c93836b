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
        fmt::format("{}: x {} is a leaf that requires a gradient; change it under NoGrad, or "
                    "clone() it first",
                    op, x.shape().str()));
  }
  const auto& storage = *x.impl()->storage;
  if (storage.refs.load() - storage.saved.load() > 1) {
    throw GraphError(
        fmt::format("{}: a view shares the storage of x {}; use {} out of place, or work under "
                    "NoGrad",
                    op, x.shape().str(), std::string(op, std::char_traits<char>::length(op) - 1)));
  }
}

void check_other(const char* op, const Tensor& x, const Tensor& o) {
  if (detail::broadcast(op, {{"x", x}, {"o", o}}) == x.shape()) return;
  throw ShapeError(fmt::format("{}: x is {} and cannot grow, o is {}; o must broadcast to x", op,
                               x.shape().str(), o.shape().str()));
}

// compute(x) gives the new value. When the change is recorded, it is computed from a copy, so that
// what it saves stays as it was.
template <class F>
const Tensor& change(const char* op, const Tensor& x, const Tensor* other, const F& compute) {
  detail::check_defined(op, "x", x);
  if (other) check_other(op, x, *other);
  if (x.overlaps_itself()) {
    throw GraphError(fmt::format("{}: several elements of x {} share memory; clone() it first", op,
                                 x.shape().str()));
  }
  const bool recording =
      grad_recording() && (x.requires_grad() || (other && other->requires_grad()));
  if (recording) check_may_record(op, x);
  Tensor y = compute(recording ? clone(x) : x);
  if (promote(y.dtype(), x.dtype()) != x.dtype()) {
    throw DTypeError(
        fmt::format("{}: x is {} {} and cannot hold the result, which is {}; convert x with to({})",
                    op, name(x.dtype()), x.shape().str(), name(y.dtype()), name(y.dtype())));
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
  return change("add_", *this, &o, [&](const Tensor& x) { return add(x, o); });
}
const Tensor& Tensor::sub_(const Tensor& o) const {
  return change("sub_", *this, &o, [&](const Tensor& x) { return sub(x, o); });
}
const Tensor& Tensor::mul_(const Tensor& o) const {
  return change("mul_", *this, &o, [&](const Tensor& x) { return mul(x, o); });
}
const Tensor& Tensor::div_(const Tensor& o) const {
  return change("div_", *this, &o, [&](const Tensor& x) { return div(x, o); });
}
const Tensor& Tensor::add_(Scalar o) const {
  return change("add_", *this, nullptr, [&](const Tensor& x) { return add(x, o); });
}
const Tensor& Tensor::sub_(Scalar o) const {
  return change("sub_", *this, nullptr, [&](const Tensor& x) { return sub(x, o); });
}
const Tensor& Tensor::mul_(Scalar o) const {
  return change("mul_", *this, nullptr, [&](const Tensor& x) { return mul(x, o); });
}
const Tensor& Tensor::div_(Scalar o) const {
  return change("div_", *this, nullptr, [&](const Tensor& x) { return div(x, o); });
}

const Tensor& Tensor::copy_(const Tensor& o) const {
  return change("copy_", *this, &o,
                [&](const Tensor& x) { return fovea::to(fovea::expand(o, x.shape()), x.dtype()); });
}

const Tensor& Tensor::fill_(Scalar value) const {
  return change("fill_", *this, nullptr, [&](const Tensor& x) {
    detail::check_value("fill_", value, x.dtype());
    return full_like(x, value);
  });
}

const Tensor& Tensor::zero_() const {
  return change("zero_", *this, nullptr, [](const Tensor& x) { return zeros_like(x); });
}

}  // namespace fovea
