// The methods and operators that core/tensor.h declares: each is the function of the same name.
#include <fmt/format.h>

#include "fovea/ops/elementwise.h"

namespace fovea {

Tensor operator+(const Tensor& a, const Tensor& b) { return add(a, b); }
Tensor operator+(const Tensor& a, Scalar b) { return add(a, b); }
Tensor operator+(Scalar a, const Tensor& b) { return add(b, a); }
Tensor operator-(const Tensor& a, const Tensor& b) { return sub(a, b); }
Tensor operator-(const Tensor& a, Scalar b) { return sub(a, b); }
Tensor operator-(Scalar a, const Tensor& b) { return sub(detail::operand("sub", "b", b, a), b); }
Tensor operator*(const Tensor& a, const Tensor& b) { return mul(a, b); }
Tensor operator*(const Tensor& a, Scalar b) { return mul(a, b); }
Tensor operator*(Scalar a, const Tensor& b) { return mul(b, a); }
Tensor operator/(const Tensor& a, const Tensor& b) { return div(a, b); }
Tensor operator/(const Tensor& a, Scalar b) { return div(a, b); }
Tensor operator/(Scalar a, const Tensor& b) { return div(detail::operand("div", "b", b, a), b); }
Tensor operator-(const Tensor& a) { return neg(a); }

Tensor operator==(const Tensor& a, const Tensor& b) { return eq(a, b); }
Tensor operator==(const Tensor& a, Scalar b) { return eq(a, b); }
Tensor operator!=(const Tensor& a, const Tensor& b) { return ne(a, b); }
Tensor operator!=(const Tensor& a, Scalar b) { return ne(a, b); }
Tensor operator<(const Tensor& a, const Tensor& b) { return lt(a, b); }
Tensor operator<(const Tensor& a, Scalar b) { return lt(a, b); }
Tensor operator<=(const Tensor& a, const Tensor& b) { return le(a, b); }
Tensor operator<=(const Tensor& a, Scalar b) { return le(a, b); }
Tensor operator>(const Tensor& a, const Tensor& b) { return gt(a, b); }
Tensor operator>(const Tensor& a, Scalar b) { return gt(a, b); }
Tensor operator>=(const Tensor& a, const Tensor& b) { return ge(a, b); }
Tensor operator>=(const Tensor& a, Scalar b) { return ge(a, b); }

Tensor Tensor::contiguous() const { return fovea::contiguous(*this); }
Tensor Tensor::clone() const { return fovea::clone(*this); }
Tensor Tensor::to(DType dtype) const { return fovea::to(*this, dtype); }
Tensor Tensor::view(const Shape& shape) const { return fovea::view(*this, shape); }
Tensor Tensor::reshape(const Shape& shape) const { return fovea::reshape(*this, shape); }
Tensor Tensor::flatten(int64_t start, int64_t end) const {
  return fovea::flatten(*this, start, end);
}
Tensor Tensor::transpose(int64_t a, int64_t b) const { return fovea::transpose(*this, a, b); }
Tensor Tensor::t() const {
  detail::check_defined("t", "x", *this);
  if (dim() > 2) {
    throw ShapeError(
        fmt::format("t: x is {}; a matrix is needed, use transpose() or mT()", shape().str()));
  }
  return fovea::transpose(*this, 0, -1);
}
Tensor Tensor::permute(const Axes& order) const { return fovea::permute(*this, order); }
Tensor Tensor::squeeze() const { return fovea::squeeze(*this); }
Tensor Tensor::squeeze(int64_t axis) const { return fovea::squeeze(*this, axis); }
Tensor Tensor::unsqueeze(int64_t axis) const { return fovea::unsqueeze(*this, axis); }
Tensor Tensor::expand(const Shape& shape) const { return fovea::expand(*this, shape); }
Tensor Tensor::expand_as(const Tensor& o) const {
  detail::check_defined("expand_as", "o", o);
  return fovea::expand(*this, o.shape());
}
Tensor Tensor::select(int64_t axis, int64_t index) const {
  return fovea::select(*this, axis, index);
}
Tensor Tensor::slice(int64_t axis, int64_t start, int64_t end, int64_t step) const {
  return fovea::slice(*this, axis, start, end, step);
}
Tensor Tensor::narrow(int64_t axis, int64_t start, int64_t length) const {
  return fovea::narrow(*this, axis, start, length);
}
std::vector<Tensor> Tensor::split(int64_t size, int64_t axis) const {
  return fovea::split(*this, size, axis);
}
std::vector<Tensor> Tensor::chunk(int64_t chunks, int64_t axis) const {
  return fovea::chunk(*this, chunks, axis);
}
std::vector<Tensor> Tensor::unbind(int64_t axis) const { return fovea::unbind(*this, axis); }
Tensor Tensor::flip(const Axes& axes) const { return fovea::flip(*this, axes); }
Tensor Tensor::repeat(const Shape& times) const { return fovea::repeat(*this, times); }
Tensor Tensor::gather(int64_t axis, const Tensor& index) const {
  return fovea::gather(*this, axis, index);
}
Tensor Tensor::index_select(int64_t axis, const Tensor& index) const {
  return fovea::index_select(*this, axis, index);
}
Tensor Tensor::scatter_add(int64_t axis, const Tensor& index, const Tensor& src) const {
  return fovea::scatter_add(*this, axis, index, src);
}
Tensor Tensor::masked_fill(const Tensor& mask, Scalar value) const {
  return fovea::masked_fill(*this, mask, value);
}

Tensor Tensor::exp() const { return fovea::exp(*this); }
Tensor Tensor::log() const { return fovea::log(*this); }
Tensor Tensor::sqrt() const { return fovea::sqrt(*this); }
Tensor Tensor::square() const { return fovea::square(*this); }
Tensor Tensor::abs() const { return fovea::abs(*this); }
Tensor Tensor::tanh() const { return fovea::tanh(*this); }
Tensor Tensor::sigmoid() const { return fovea::sigmoid(*this); }
Tensor Tensor::relu() const { return fovea::relu(*this); }
Tensor Tensor::pow(Scalar exponent) const { return fovea::pow(*this, exponent); }
Tensor Tensor::clamp(Scalar low, Scalar high) const { return fovea::clamp(*this, low, high); }
Tensor Tensor::matmul(const Tensor& o) const { return fovea::matmul(*this, o); }
Tensor Tensor::bmm(const Tensor& o) const { return fovea::bmm(*this, o); }
Tensor Tensor::mm(const Tensor& o) const {
  detail::check_defined("mm", "a", *this);
  detail::check_defined("mm", "b", o);
  if (dim() != 2 || o.dim() != 2 || shape()[1] != o.shape()[0]) {
    throw ShapeError(fmt::format("mm: a is {}, b is {}; need (M, K) and (K, N)", shape().str(),
                                 o.shape().str()));
  }
  return fovea::matmul(*this, o);
}

Tensor Tensor::sum(const Axes& axes, bool keep) const { return fovea::sum(*this, axes, keep); }
Tensor Tensor::mean(const Axes& axes, bool keep) const { return fovea::mean(*this, axes, keep); }
Tensor Tensor::var(const Axes& axes, int64_t correction, bool keep) const {
  return fovea::var(*this, axes, correction, keep);
}
Tensor Tensor::std(const Axes& axes, int64_t correction, bool keep) const {
  return fovea::std(*this, axes, correction, keep);
}
Tensor Tensor::max() const { return fovea::max(*this); }
Tensor Tensor::min() const { return fovea::min(*this); }
Tensor Tensor::amax(const Axes& axes, bool keep) const { return fovea::amax(*this, axes, keep); }
Tensor Tensor::amin(const Axes& axes, bool keep) const { return fovea::amin(*this, axes, keep); }
Tensor Tensor::argmax() const { return fovea::argmax(*this); }
Tensor Tensor::argmax(int64_t axis, bool keep) const { return fovea::argmax(*this, axis, keep); }
Tensor Tensor::argmin() const { return fovea::argmin(*this); }
Tensor Tensor::argmin(int64_t axis, bool keep) const { return fovea::argmin(*this, axis, keep); }
Tensor Tensor::logsumexp(const Axes& axes, bool keep) const {
  return fovea::logsumexp(*this, axes, keep);
}
Tensor Tensor::cumsum(int64_t axis) const { return fovea::cumsum(*this, axis); }
Tensor Tensor::softmax(int64_t axis) const { return fovea::softmax(*this, axis); }
Tensor Tensor::log_softmax(int64_t axis) const { return fovea::log_softmax(*this, axis); }
bool Tensor::any() const { return fovea::any(*this); }
bool Tensor::all() const { return fovea::all(*this); }

}  // namespace fovea
