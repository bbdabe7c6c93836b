// A layer is a plain struct with tensors and layers as members. It lists them once:
//
//     struct Mlp : Module {
//       Linear hidden{784, 256}, out{256, 10};
//       Tensor operator()(const Tensor& x) const { return out(relu(hidden(x))); }
//       void visit(Visitor& v) override { v("hidden", hidden); v("out", out); }
//     };
//
// and parameters, dotted names ("hidden.weight"), train/eval, zero_grad, freezing, saving and
// loading derive from that.
//
// Copying a layer copies handles: the copy shares the weights of the original, which is how layers
// are tied (`out.weight = embedding.weight`). A tied tensor is one parameter, under the first name
// visit() gives it. An undefined tensor (the bias of a layer without one) is no parameter at all.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fovea/core/tensor.h"
#include "fovea/nn/state.h"

namespace fovea {

class Module;

/// What visit() shows the members to.
class Visitor {
 public:
  virtual ~Visitor() = default;

  /// A parameter: trained, saved.
  void operator()(std::string_view name, Tensor& parameter) {
    if (parameter.defined()) on_parameter(prefix_ + std::string(name), parameter);
  }
  /// A tensor that is saved but not trained: running statistics, tables.
  void buffer(std::string_view name, Tensor& buffer) {
    if (buffer.defined()) on_buffer(prefix_ + std::string(name), buffer);
  }
  /// A layer; its names follow behind "name.".
  void operator()(std::string_view name, Module& child);

  /// A pointer or an optional, which may be empty.
  template <class T>
  void operator()(std::string_view name, std::unique_ptr<T>& p) {
    if (p) (*this)(name, *p);
  }
  template <class T>
  void operator()(std::string_view name, std::shared_ptr<T>& p) {
    if (p) (*this)(name, *p);
  }
  template <class T>
  void operator()(std::string_view name, std::optional<T>& p) {
    if (p) (*this)(name, *p);
  }
  /// Several of any of these: "name.0", "name.1", ...
  template <class T>
  void operator()(std::string_view name, std::vector<T>& list) {
    each(name, list);
  }
  template <class T, size_t N>
  void operator()(std::string_view name, std::array<T, N>& list) {
    each(name, list);
  }

 protected:
  virtual void on_parameter(const std::string& name, Tensor& t) = 0;
  virtual void on_buffer(const std::string& name, Tensor& t) = 0;
  virtual void on_module(const std::string& name, Module& child) = 0;

 private:
  template <class List>
  void each(std::string_view name, List& list) {
    const size_t before = prefix_.size();
    prefix_.append(name) += '.';
    size_t i = 0;
    for (auto& item : list) (*this)(std::to_string(i++), item);
    prefix_.resize(before);
  }

  std::string prefix_;
};

/// The base of every layer. Reading members take `const`: a const layer cannot change its members,
/// but a Tensor is a handle, and its elements and gradient stay writable.
class Module : public Stateful {
 public:
  /// Dropout acts and running statistics move while true. Set it by train() and eval().
  bool training = true;

  /// Names each member once. ValueError from the functions below when two share a name.
  virtual void visit(Visitor& v) = 0;

  /// Frozen ones included; a tied tensor once.
  Tensors parameters() const;
  NamedTensors named_parameters() const;
  NamedTensors named_buffers() const;
  /// The number of elements of all parameters.
  int64_t numel() const;

  /// Sets `training` here and in every layer below.
  void train(bool on = true);
  void eval() { train(false); }
  /// Forgets the gradients.
  void zero_grad() const;
  /// false freezes every parameter (optimisers skip it, backward does not reach it), true thaws.
  void requires_grad_(bool on = true) const;
  /// Converts the floating parameters and buffers. Tied ones stay tied, frozen ones frozen;
  /// gradients are forgotten and optimisers made before keep the old tensors.
  void to(DType dtype);

  /// Parameters and buffers in the order of visit(), outside the graph, sharing storage.
  NamedTensors state() const override;
  /// A tied tensor may be given under any of its names, or under several with the same bits.
  StateDiff check_state(const NamedTensors& given) const override;
  void assign_state(const NamedTensors& given) override;
  using Stateful::load_state;
  /// Strict: the names must agree. Otherwise what is missing or extra is left alone and returned;
  /// shapes and dtypes must agree all the same. ShapeError lists all that does not fit.
  StateDiff load_state(const NamedTensors& given, bool strict);
};

}  // namespace fovea
