// Layers one after the other.
#pragma once

#include <concepts>
#include <memory>
#include <utility>
#include <vector>

#include "fovea/core/error.h"
#include "fovea/nn/module.h"

namespace fovea {

/// Anything that maps a tensor to a tensor: layers, the structs of activation.h, lambdas.
template <class L>
concept Layer = requires(L& layer, const Tensor& x) {
  { layer(x) } -> std::convertible_to<Tensor>;
};

/// `Sequential net(Linear(784, 256), ReLU(), Linear(256, 10));`
///
/// Parameters are named by position, as in PyTorch: "0.weight", "0.bias", "2.weight". A copy shares
/// weights, as every copied layer does.
class Sequential : public Module {
 public:
  Sequential() = default;
  template <Layer... L>
  requires(sizeof...(L) > 1 ||
           (!std::derived_from<L, Sequential> && ...)) explicit Sequential(L... layers) {
    (add(std::move(layers)), ...);
  }
  Sequential(const Sequential& o) : Module(o) {
    for (const auto& s : o.steps_) steps_.push_back(s->copy());
  }
  Sequential(Sequential&&) = default;
  Sequential& operator=(Sequential o) {
    training = o.training;
    steps_.swap(o.steps_);
    return *this;
  }

  template <Layer L>
  Sequential& add(L layer) {
    steps_.push_back(std::make_unique<Holder<L>>(std::move(layer)));
    return *this;
  }

  Tensor forward(Tensor x) const {
    for (const auto& s : steps_) x = s->call(x);
    return x;
  }
  Tensor operator()(const Tensor& x) const { return forward(x); }
  size_t size() const { return steps_.size(); }
  /// The i-th layer, which must be an L: `net.at<Linear>(0).weight`. IndexError, ValueError.
  template <class L>
  L& at(size_t i) {
    if (i >= steps_.size()) throw IndexError("Sequential::at: there is no such layer");
    auto* h = dynamic_cast<Holder<L>*>(steps_[i].get());
    if (!h) throw ValueError("Sequential::at: the layer is of another type");
    return h->layer;
  }

  void visit(Visitor& v) override {
    for (size_t i = 0; i < steps_.size(); ++i) {
      if (Module* m = steps_[i]->module()) v(std::to_string(i), *m);
    }
  }

 private:
  struct Step {
    virtual ~Step() = default;
    virtual Tensor call(const Tensor& x) = 0;
    virtual Module* module() = 0;
    virtual std::unique_ptr<Step> copy() const = 0;
  };
  template <class L>
  struct Holder final : Step {
    explicit Holder(L l) : layer(std::move(l)) {}
    Tensor call(const Tensor& x) override { return layer(x); }
    Module* module() override {
      if constexpr (std::derived_from<L, Module>) {
        return &layer;
      } else {
        return nullptr;
      }
    }
    std::unique_ptr<Step> copy() const override {
      if constexpr (std::copy_constructible<L>) {
        return std::make_unique<Holder>(layer);
      } else {
        throw ValueError("Sequential: holds a layer that can be moved but not copied");
      }
    }
    L layer;
  };
  std::vector<std::unique_ptr<Step>> steps_;
};

}  // namespace fovea
