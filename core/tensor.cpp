#include "fovea/core/tensor.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <new>
#include <numeric>

#include "fovea/core/allocator.h"
#include "fovea/core/error.h"
#include "fovea/core/node.h"
#include "fovea/core/seam.h"

namespace fovea {
namespace detail {
namespace {

constexpr size_t kHeader = 64;         // keeps the data aligned
constexpr size_t kInlineLimit = 4096;  // larger data would push powers of two into the next class
static_assert(sizeof(Storage) <= kHeader);

bool check_contiguous(const Shape& shape, const Strides& strides) {
  int64_t step = 1;
  for (int d = shape.rank() - 1; d >= 0; --d) {
    if (shape[d] == 0) return true;
    if (shape[d] != 1 && strides[d] != step) return false;
    step *= shape[d];
  }
  return true;
}

}  // namespace

Storage* Storage::make(size_t bytes) {
  const bool inline_data = bytes <= kInlineLimit;
  void* p = allocate(inline_data ? kHeader + bytes : kHeader);
  auto* s = new (p) Storage;
  s->bytes = bytes;
  if (inline_data) {
    s->data = static_cast<char*>(p) + kHeader;
    return s;
  }
  try {
    s->data = allocate(bytes);
  } catch (...) {
    deallocate(p, kHeader);
    throw;
  }
  return s;
}

void Storage::destroy() {
  const size_t n = bytes;
  if (n <= kInlineLimit) {
    deallocate(this, kHeader + n);
  } else {
    deallocate(data, n);
    deallocate(this, kHeader);
  }
}

TensorImpl* TensorImpl::make() {
  auto* t = new (allocate(sizeof(TensorImpl))) TensorImpl;
  count_tensors(1);
  return t;
}

void TensorImpl::destroy() {
  if (storage) {
    if (saved_output) storage->saved.fetch_sub(1, std::memory_order_relaxed);
    storage->release();
  }
  Node* n = node;
  count_tensors(-1);
  this->~TensorImpl();
  deallocate(this, sizeof(TensorImpl));
  if (n) n->release();
}

void set_node(const Tensor& t, Node* n) {
  if (Node* old = std::exchange(t.impl()->node, n)) old->release();
}

}  // namespace detail

Tensor Tensor::empty(const Shape& shape, DType dtype) {
  const int64_t n = shape.numel("empty");
  Tensor t = adopt(detail::TensorImpl::make());
  try {
    t.impl_->storage = detail::Storage::make(static_cast<size_t>(n * item_size(dtype)));
  } catch (const Error& e) {
    throw Error(fmt::format("{}; the tensor is {} {}", e.what(), name(dtype), shape.str()));
  }
  t.impl_->data = static_cast<char*>(t.impl_->storage->data);
  t.impl_->numel = n;
  t.impl_->dtype = dtype;
  t.impl_->shape = shape;
  t.impl_->strides = contiguous_strides(shape);
  return t;
}

Tensor Tensor::alias(const Shape& shape, const Strides& strides, int64_t offset) const {
  Tensor t = adopt(detail::TensorImpl::make());
  t.impl_->storage = impl_->storage;
  impl_->storage->retain();
  t.impl_->data = impl_->data + offset * item_size(impl_->dtype);
  t.impl_->numel = shape.numel();
  t.impl_->dtype = impl_->dtype;
  t.impl_->shape = shape;
  t.impl_->strides = strides;
  t.impl_->contiguous = detail::check_contiguous(shape, strides);
  return t;
}

int64_t Tensor::size(int64_t axis) const {
  if (dim() == 0) {
    throw IndexError(fmt::format("size: axis {} of a 0-dim tensor; it has no axes", axis));
  }
  return shape()[normalize_axis("size", axis, dim())];
}

bool Tensor::overlaps_itself() const {
  // Sorted by stride, each axis must step past all that the smaller ones reach. Every layout that
  // views can make without expand passes; a layout that fails may still be free of overlap.
  if (numel() <= 1) return false;
  std::vector<int> order;
  for (int d = 0; d < dim(); ++d) {
    if (shape()[d] != 1) order.push_back(d);
  }
  std::sort(order.begin(), order.end(),
            [&](int a, int b) { return std::abs(strides()[a]) < std::abs(strides()[b]); });
  int64_t reach = 0;
  for (int d : order) {
    const int64_t s = std::abs(strides()[d]);
    if (s <= reach) return true;
    reach += s * (shape()[d] - 1);
  }
  return false;
}

void Tensor::wrong_type(DType asked) const {
  throw DTypeError(fmt::format("data: the tensor is {}, {} was asked for; convert it with to({})",
                               name(dtype()), name(asked), name(asked)));
}

namespace {

Scalar load(const char* p, DType t) {
  return visit(t, [p](auto zero) {
    using T = decltype(zero);
    const T v = *reinterpret_cast<const T*>(p);
    if constexpr (std::is_same_v<T, uint8_t>) {
      return Scalar(v != 0);
    } else {
      return Scalar(v);
    }
  });
}

}  // namespace

Scalar Tensor::scalar_item() const {
  if (!defined()) throw ShapeError("item: the tensor is undefined");
  if (numel() != 1) {
    throw ShapeError(
        fmt::format("item: the tensor is {}, one element is needed; use at() or "
                    "to_vector()",
                    shape().str()));
  }
  return load(raw(), dtype());
}

double Tensor::at(std::initializer_list<int64_t> index) const {
  if (static_cast<int>(index.size()) != dim()) {
    throw IndexError(fmt::format("at: {} indices for a tensor of shape {}; give one an axis",
                                 index.size(), shape().str()));
  }
  int64_t offset = 0;
  int d = 0;
  for (int64_t i : index) {
    const int64_t n = shape()[d];
    if (i < -n || i >= n) {
      throw IndexError(
          fmt::format("at: index {} is out of range on axis {} of shape {}", i, d, shape().str()));
    }
    offset += (i < 0 ? i + n : i) * strides()[d++];
  }
  return load(raw() + offset * item_size(dtype()), dtype()).as<double>();
}

template <class T>
std::vector<T> Tensor::to_vector() const {
  std::vector<T> out;
  out.reserve(static_cast<size_t>(numel()));
  if (numel() == 0) return out;
  const auto c = collapse<1>(shape(), {&strides()});
  const int64_t width = item_size(dtype());
  for (int64_t r = 0; r < c.rows; ++r) {
    const char* p = raw() + c.row_offsets(r)[0] * width;
    for (int64_t i = 0; i < c.row_length(); ++i) {
      out.push_back(load(p + i * c.strides[0][c.rank - 1] * width, dtype()).template as<T>());
    }
  }
  return out;
}
template std::vector<double> Tensor::to_vector() const;
template std::vector<float> Tensor::to_vector() const;
template std::vector<int64_t> Tensor::to_vector() const;
template std::vector<int> Tensor::to_vector() const;
template std::vector<bool> Tensor::to_vector() const;

}  // namespace fovea
