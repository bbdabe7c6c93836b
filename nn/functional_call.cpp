#include "fovea/nn/functional_call.h"

#include <fmt/format.h>

#include "fovea/core/error.h"

namespace fovea {
namespace {

struct Slot {
  std::string name;
  Tensor* member;
};

class Slots final : public Visitor {
 public:
  explicit Slots(Module& m) { m.visit(*this); }
  std::vector<Slot> list;

 private:
  void on_parameter(const std::string& name, Tensor& t) override { list.push_back({name, &t}); }
  void on_buffer(const std::string& name, Tensor& t) override { list.push_back({name, &t}); }
  void on_module(const std::string&, Module&) override {}
};

}  // namespace

ReplacedParameters::ReplacedParameters(Module& model, const NamedTensors& values) {
  const Slots slots(model);
  StateDiff diff;
  std::vector<Tensor> next(slots.list.size());  // the tensor each member becomes, or undefined
  for (const auto& [name, value] : values) {
    Tensor* named = nullptr;
    for (const Slot& s : slots.list) {
      if (s.name == name) named = s.member;
    }
    if (named == nullptr) {
      diff.extra.push_back(name);
    } else if (!value.defined() || !(value.shape() == named->shape())) {
      diff.mismatched.push_back(fmt::format("{}: is {}, need {}", name,
                                            value.defined() ? value.shape().str() : "undefined",
                                            named->shape().str()));
    } else {
      for (size_t i = 0; i < next.size(); ++i) {
        if (!slots.list[i].member->same_as(*named)) continue;
        if (next[i].defined() && !next[i].same_as(value)) {
          throw ValueError(
              fmt::format("functional_call: `{}` gets two tensors, by its own name or that of one "
                          "it is tied to; give it one",
                          slots.list[i].name));
        }
        next[i] = value;
      }
    }
  }
  if (!diff.ok()) {
    throw ShapeError(
        fmt::format("functional_call: the tensors do not fit the model: {}; give names and shapes "
                    "of named_parameters() or named_buffers()",
                    diff.str()));
  }
  for (size_t i = 0; i < next.size(); ++i) {
    if (!next[i].defined()) continue;
    before_.emplace_back(slots.list[i].member, std::exchange(*slots.list[i].member, next[i]));
  }
}

ReplacedParameters::~ReplacedParameters() {
  for (auto& [member, tensor] : before_) *member = std::move(tensor);
}

}  // namespace fovea
