#include "fovea/nn/attention/kv_cache.h"

#include <fmt/format.h>

#include <algorithm>

#include "fovea/core/error.h"
#include "fovea/ops/ops.h"

namespace fovea {
namespace {

void check(const Tensor& k, const Tensor& v, const Tensor& kept_k, const Tensor& kept_v,
           int64_t length) {
  const bool alike = k.defined() && v.defined() && k.dim() == 4 && v.dim() == 4 &&
                     k.size(0) == v.size(0) && k.size(1) == v.size(1) && k.size(2) == v.size(2);
  const auto goes_on = [](const Tensor& x, const Tensor& kept) {
    return x.size(0) == kept.size(0) && x.size(1) == kept.size(1) && x.size(3) == kept.size(3);
  };
  if (alike && (length == 0 || (goes_on(k, kept_k) && goes_on(v, kept_v)))) {
    if (length == 0 || (k.dtype() == kept_k.dtype() && v.dtype() == kept_v.dtype())) return;
    throw DTypeError(fmt::format("LayerCache: k is {}, v is {}; {} tokens of {} and {} are there",
                                 name(k.dtype()), name(v.dtype()), length, name(kept_k.dtype()),
                                 name(kept_v.dtype())));
  }
  const auto shape = [](const Tensor& x) { return x.defined() ? x.shape().str() : "undefined"; };
  const std::string there = length == 0 ? ""
                                        : fmt::format("; {} tokens of {} and {} are there", length,
                                                      kept_k.shape().str(), kept_v.shape().str());
  throw ShapeError(fmt::format("LayerCache: k is {}, v is {}{}; need (B, H, t, D) of equal B and H",
                               shape(k), shape(v), there));
}

// A copy of x's first `length` tokens with room for `capacity`.
Tensor with_room(const Tensor& x, const Tensor& like, int64_t length, int64_t capacity) {
  Shape shape = like.shape();
  shape[2] = capacity;
  const Tensor wide = Tensor::empty(shape, like.dtype());
  if (length > 0) wide.narrow(2, 0, length).copy_(x.narrow(2, 0, length));
  return wide;
}

}  // namespace

KeysAndValues LayerCache::append(const Tensor& k, const Tensor& v) {
  check(k, v, k_, v_, length_);
  if (k.requires_grad() || v.requires_grad()) {
    throw GraphError(
        "LayerCache: gradients are being recorded, and a cache is changed in place; read with it "
        "inside NoGrad");
  }
  const int64_t more = k.size(2), length = length_ + more;
  if (!k_.defined() || length > k_.size(2) || length_ == 0) {
    const int64_t capacity = std::max<int64_t>(length, 2 * length_);
    const Tensor wide = with_room(k_, k, length_, capacity);
    v_ = with_room(v_, v, length_, capacity);
    k_ = wide;  // last: without memory for both nothing has changed
  }
  if (more > 0) {
    k_.narrow(2, length_, more).copy_(k);
    v_.narrow(2, length_, more).copy_(v);
  }
  length_ = length;
  return {k_.narrow(2, 0, length), v_.narrow(2, 0, length)};
}

void LayerCache::select(const Tensor& rows) {
  if (length_ == 0) return;
  const NoGrad scope;
  k_ = index_select(k_, 0, rows);
  v_ = index_select(v_, 0, rows);
}

void LayerCache::clear() {
  k_ = v_ = {};
  length_ = 0;
}

void KvCache::select(const Tensor& rows) {
  for (LayerCache& layer : layers) layer.select(rows);
}

void KvCache::clear() {
  for (LayerCache& layer : layers) layer.clear();
}

}  // namespace fovea
