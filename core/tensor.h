// Tensor: a handle to {storage, shape, strides, offset, node}.
//
// Copying a Tensor copies the handle: both show the same memory and the same place in the graph;
// clone() copies the elements. A tensor requires a gradient exactly when it has a node: a leaf node
// that holds .grad(), or the node of the operation that made it.
//
// The names and meanings are PyTorch's. The methods that compute are the functions of ops/ops.h,
// which documents them; ops/methods.cpp connects the two.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "fovea/core/dtype.h"
#include "fovea/core/shape.h"
#include "fovea/core/storage.h"

namespace fovea {

class Node;
class Tensor;

/// Reads as the word in `sum(x, -1, keepdim)`: reduced axes stay, with size 1.
inline constexpr bool keepdim = true;

/// One axis, several, or (empty) all of them.
struct Axes {
  Axes() = default;
  Axes(int axis) : list{axis} {}                             // NOLINT(google-explicit-constructor)
  Axes(int64_t axis) : list{axis} {}                         // NOLINT(google-explicit-constructor)
  Axes(std::initializer_list<int64_t> axes) : list(axes) {}  // NOLINT(google-explicit-constructor)
  Axes(const std::vector<int64_t>& axes) : list(axes) {}     // NOLINT(google-explicit-constructor)
  Axes(const Shape& axes) : list(axes) {}                    // NOLINT(google-explicit-constructor)
  Shape list;
};

/// The end of an axis, for slice().
inline constexpr int64_t kEnd = std::numeric_limits<int64_t>::max();

namespace detail {

struct TensorImpl {
  std::atomic<int64_t> refs{1};
  Storage* storage = nullptr;  // owned reference
  Node* node = nullptr;        // owned reference, null when no gradient is wanted
  char* data = nullptr;        // storage->data + offset
  int64_t numel = 0;
  DType dtype = DType::f32;
  bool contiguous = true;
  bool saved_output = false;  // made by save_output: counted in storage->saved
  Shape shape;
  Strides strides;

  void retain() { refs.fetch_add(1, std::memory_order_relaxed); }
  void release() {
    if (refs.load(std::memory_order_acquire) == 1 ||
        refs.fetch_sub(1, std::memory_order_acq_rel) == 1) {
      destroy();
    }
  }
  static TensorImpl* make();

 private:
  void destroy();
};

/// Whether operations record, on this thread. Use the NoGrad and EnableGrad scopes.
inline constinit thread_local bool grad_mode = true;
inline constinit thread_local bool formula_mode = false;

}  // namespace detail

class [[nodiscard]] Tensor {
 public:
  Tensor() = default;  ///< undefined: no elements, no shape; only defined() and assignment work
  Tensor(const Tensor& o) : impl_(o.impl_) {
    if (impl_) impl_->retain();
  }
  Tensor(Tensor&& o) noexcept : impl_(std::exchange(o.impl_, nullptr)) {}
  Tensor& operator=(const Tensor& o) {
    Tensor(o).swap(*this);
    return *this;
  }
  Tensor& operator=(Tensor&& o) noexcept {
    Tensor(std::move(o)).swap(*this);
    return *this;
  }
  ~Tensor() {
    if (impl_) impl_->release();
  }
  void swap(Tensor& o) noexcept { std::swap(impl_, o.impl_); }

  /// Uninitialised, contiguous, outside the graph.
  static Tensor empty(const Shape& shape, DType dtype = f32);
  /// A view of the same storage; offset in elements from this tensor's first. Outside the graph:
  /// view operations record on top of it. The caller keeps every index inside the storage.
  Tensor alias(const Shape& shape, const Strides& strides, int64_t offset = 0) const;

  // ---- what it is
  bool defined() const { return impl_ != nullptr; }
  const Shape& shape() const { return impl_->shape; }
  const Strides& strides() const { return impl_->strides; }
  int dim() const { return impl_->shape.rank(); }
  int64_t size(int64_t axis) const;  ///< negative axes count from the end
  int64_t numel() const { return impl_->numel; }
  DType dtype() const { return impl_->dtype; }
  bool is_floating() const { return fovea::is_floating(impl_->dtype); }
  bool is_contiguous() const { return impl_->contiguous; }
  /// Whether two indices may show the same element (expanded tensors); checked by stride order.
  bool overlaps_itself() const;
  bool shares_storage(const Tensor& o) const { return impl_->storage == o.impl_->storage; }
  bool same_as(const Tensor& o) const { return impl_ == o.impl_; }
  uint32_t version() const { return impl_->storage->version.load(std::memory_order_relaxed); }
  void bump_version() const { impl_->storage->version.fetch_add(1, std::memory_order_relaxed); }
  /// Elements as a printout in PyTorch's manner; see core/print.h for options.
  std::string str() const;

  // ---- elements
  /// The first element; T must be the dtype's C++ type (bool is stored as uint8_t), else
  /// DTypeError.
  template <class T>
  T* data() const {
    if (dtype_of<T>() != dtype()) wrong_type(dtype_of<T>());
    return reinterpret_cast<T*>(impl_->data);
  }
  char* raw() const { return impl_->data; }
  /// The only element, converted; ShapeError unless numel() is 1.
  template <class T = double>
  T item() const {
    const Scalar s = scalar_item();
    return s.as<T>();
  }
  /// One element by its full index, converted to double; negative indices count from the end.
  double at(std::initializer_list<int64_t> index) const;
  /// All elements in row-major order, converted.
  template <class T = double>
  std::vector<T> to_vector() const;

  // ---- autograd (core/engine.h has the free functions)
  bool requires_grad() const { return impl_ && impl_->node != nullptr; }
  bool is_leaf() const;
  Node* node() const { return impl_->node; }
  /// Makes this a leaf that collects .grad(), or stops that. Floats only; GraphError when an
  /// operation made the tensor.
  const Tensor& requires_grad_(bool on = true) const;
  /// The same elements outside the graph; shares storage.
  Tensor detach() const;
  /// What backward() left here: undefined before. Leaves, and tensors that asked by retain_grad().
  Tensor grad() const;
  void set_grad(Tensor g) const;
  void zero_grad() const { set_grad(Tensor()); }  ///< forgets it, as PyTorch's set_to_none
  void retain_grad() const;
  /// Called with the gradient when it is complete; what it returns replaces the gradient, an
  /// undefined tensor leaves it. GraphError when no gradient is required.
  void register_hook(std::function<Tensor(const Tensor&)> hook) const;
  /// d(this)/d(leaf), added to .grad() of every leaf; numel() must be 1 unless an upstream gradient
  /// is passed. An undefined upstream stands for none.
  void backward() const;
  void backward(const Tensor& upstream, bool retain_graph = false, bool create_graph = false) const;

  // ---- shape
  Tensor contiguous() const;
  Tensor clone() const;
  Tensor to(DType dtype) const;
  Tensor view(const Shape& shape) const;
  Tensor reshape(const Shape& shape) const;
  Tensor flatten(int64_t start = 0, int64_t end = -1) const;
  Tensor transpose(int64_t a, int64_t b) const;
  Tensor t() const;  ///< of a matrix
  Tensor mT() const { return transpose(-2, -1); }
  Tensor permute(const Axes& order) const;
  Tensor squeeze() const;
  Tensor squeeze(int64_t axis) const;
  Tensor unsqueeze(int64_t axis) const;
  Tensor expand(const Shape& shape) const;  ///< -1 keeps a size
  Tensor expand_as(const Tensor& o) const;
  Tensor select(int64_t axis, int64_t index) const;
  Tensor slice(int64_t axis, int64_t start = 0, int64_t end = kEnd, int64_t step = 1) const;
  Tensor narrow(int64_t axis, int64_t start, int64_t length) const;
  Tensor operator[](int64_t index) const { return select(0, index); }
  std::vector<Tensor> split(int64_t size, int64_t axis = 0) const;
  std::vector<Tensor> chunk(int64_t chunks, int64_t axis = 0) const;
  std::vector<Tensor> unbind(int64_t axis = 0) const;
  Tensor flip(const Axes& axes) const;
  Tensor repeat(const Shape& times) const;
  Tensor gather(int64_t axis, const Tensor& index) const;
  Tensor index_select(int64_t axis, const Tensor& index) const;
  Tensor scatter_add(int64_t axis, const Tensor& index, const Tensor& src) const;
  Tensor masked_fill(const Tensor& mask, Scalar value) const;

  // ---- elementwise and products
  Tensor exp() const;
  Tensor log() const;
  Tensor sqrt() const;
  Tensor square() const;
  Tensor abs() const;
  Tensor tanh() const;
  Tensor sigmoid() const;
  Tensor relu() const;
  Tensor pow(Scalar exponent) const;
  Tensor clamp(Scalar low, Scalar high) const;
  Tensor matmul(const Tensor& o) const;
  Tensor mm(const Tensor& o) const;   ///< of two matrices
  Tensor bmm(const Tensor& o) const;  ///< of two batches of matrices

  // ---- reductions
  Tensor sum(const Axes& axes = {}, bool keepdim = false) const;
  Tensor mean(const Axes& axes = {}, bool keepdim = false) const;
  Tensor var(const Axes& axes = {}, int64_t correction = 1, bool keepdim = false) const;
  Tensor std(const Axes& axes = {}, int64_t correction = 1, bool keepdim = false) const;
  Tensor max() const;
  Tensor min() const;
  Tensor amax(const Axes& axes, bool keepdim = false) const;
  Tensor amin(const Axes& axes, bool keepdim = false) const;
  Tensor argmax() const;
  Tensor argmax(int64_t axis, bool keepdim = false) const;
  Tensor argmin() const;
  Tensor argmin(int64_t axis, bool keepdim = false) const;
  Tensor logsumexp(const Axes& axes, bool keepdim = false) const;
  Tensor cumsum(int64_t axis) const;
  Tensor softmax(int64_t axis = -1) const;
  Tensor log_softmax(int64_t axis = -1) const;
  bool any() const;  ///< of a bool tensor
  bool all() const;

  // ---- in place: ops/inplace.cpp has the rules
  const Tensor& add_(const Tensor& o) const;
  const Tensor& add_(Scalar o) const;
  const Tensor& sub_(const Tensor& o) const;
  const Tensor& sub_(Scalar o) const;
  const Tensor& mul_(const Tensor& o) const;
  const Tensor& mul_(Scalar o) const;
  const Tensor& div_(const Tensor& o) const;
  const Tensor& div_(Scalar o) const;
  const Tensor& copy_(const Tensor& o) const;  ///< broadcast and converted
  const Tensor& fill_(Scalar value) const;
  const Tensor& zero_() const;

  // ---- for the library
  detail::TensorImpl* impl() const { return impl_; }
  /// Takes over one reference.
  static Tensor adopt(detail::TensorImpl* impl) {
    Tensor t;
    t.impl_ = impl;
    return t;
  }

 private:
  Scalar scalar_item() const;
  [[noreturn]] void wrong_type(DType asked) const;
  detail::TensorImpl* impl_ = nullptr;
};

inline void Tensor::backward() const { backward(Tensor()); }

using Tensors = std::vector<Tensor>;

Tensor operator+(const Tensor& a, const Tensor& b);
Tensor operator+(const Tensor& a, Scalar b);
Tensor operator+(Scalar a, const Tensor& b);
Tensor operator-(const Tensor& a, const Tensor& b);
Tensor operator-(const Tensor& a, Scalar b);
Tensor operator-(Scalar a, const Tensor& b);
Tensor operator*(const Tensor& a, const Tensor& b);
Tensor operator*(const Tensor& a, Scalar b);
Tensor operator*(Scalar a, const Tensor& b);
Tensor operator/(const Tensor& a, const Tensor& b);
Tensor operator/(const Tensor& a, Scalar b);
Tensor operator/(Scalar a, const Tensor& b);
Tensor operator-(const Tensor& a);
inline const Tensor& operator+=(const Tensor& a, const Tensor& b) { return a.add_(b); }
inline const Tensor& operator+=(const Tensor& a, Scalar b) { return a.add_(b); }
inline const Tensor& operator-=(const Tensor& a, const Tensor& b) { return a.sub_(b); }
inline const Tensor& operator-=(const Tensor& a, Scalar b) { return a.sub_(b); }
inline const Tensor& operator*=(const Tensor& a, const Tensor& b) { return a.mul_(b); }
inline const Tensor& operator*=(const Tensor& a, Scalar b) { return a.mul_(b); }
inline const Tensor& operator/=(const Tensor& a, const Tensor& b) { return a.div_(b); }
inline const Tensor& operator/=(const Tensor& a, Scalar b) { return a.div_(b); }

// Elementwise comparisons give bool tensors, as in PyTorch; same_as() compares handles.
Tensor operator==(const Tensor& a, const Tensor& b);
Tensor operator==(const Tensor& a, Scalar b);
Tensor operator!=(const Tensor& a, const Tensor& b);
Tensor operator!=(const Tensor& a, Scalar b);
Tensor operator<(const Tensor& a, const Tensor& b);
Tensor operator<(const Tensor& a, Scalar b);
Tensor operator<=(const Tensor& a, const Tensor& b);
Tensor operator<=(const Tensor& a, Scalar b);
Tensor operator>(const Tensor& a, const Tensor& b);
Tensor operator>(const Tensor& a, Scalar b);
Tensor operator>=(const Tensor& a, const Tensor& b);
Tensor operator>=(const Tensor& a, Scalar b);

std::ostream& operator<<(std::ostream& out, const Tensor& t);

/// Inside this scope, operations on this thread record nothing.
class NoGrad {
 public:
  NoGrad() : before_(std::exchange(detail::grad_mode, false)) {}
  ~NoGrad() { detail::grad_mode = before_; }
  NoGrad(const NoGrad&) = delete;
  NoGrad& operator=(const NoGrad&) = delete;

 private:
  bool before_;
};

/// Inside this scope, operations record again (or not, when `on` is false).
class EnableGrad {
 public:
  explicit EnableGrad(bool on = true) : before_(std::exchange(detail::grad_mode, on)) {}
  ~EnableGrad() { detail::grad_mode = before_; }
  EnableGrad(const EnableGrad&) = delete;
  EnableGrad& operator=(const EnableGrad&) = delete;

 private:
  bool before_;
};

/// Inside this scope, every gradient on this thread is computed by the rule that is written in
/// operations, also where a fused one exists: to step through the rule with a debugger, or to see
/// what fusing buys.
class FormulaRules {
 public:
  FormulaRules() : before_(std::exchange(detail::formula_mode, true)) {}
  ~FormulaRules() { detail::formula_mode = before_; }
  FormulaRules(const FormulaRules&) = delete;
  FormulaRules& operator=(const FormulaRules&) = delete;

 private:
  bool before_;
};

/// Whether operations record on this thread. In a vjp: whether someone will differentiate again.
inline bool grad_recording() { return detail::grad_mode; }

}  // namespace fovea
