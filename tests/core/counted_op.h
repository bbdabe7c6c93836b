// User-defined operations that show what the engine does.
#pragma once

#include <string>
#include <vector>

#include "fovea/core/function.h"
#include "fovea/ops/ops.h"

namespace fovea::testing {

/// The identity; adds its tag to a list whenever its gradient runs.
struct Traced {
  static constexpr const char* name = "traced";
  std::vector<std::string>* log;
  std::string tag;
  Tensor forward(SaveList&, const Tensor& x) { return x.clone(); }
  Tensor backward(const Saved&, const Tensor& gy) {
    log->push_back(tag);
    return gy;
  }
};
inline Tensor traced(const Tensor& x, std::vector<std::string>& log, std::string tag) {
  return apply(Traced{&log, std::move(tag)}, x);
}

/// The identity whose gradient is whatever the function says.
struct WithGradient {
  static constexpr const char* name = "with_gradient";
  std::function<Tensor(const Tensor&)> rule;
  Tensor forward(SaveList&, const Tensor& x) { return x.clone(); }
  Tensor backward(const Saved&, const Tensor& gy) { return rule(gy); }
};
inline Tensor with_gradient(const Tensor& x, std::function<Tensor(const Tensor&)> rule) {
  return apply(WithGradient{std::move(rule)}, x);
}

/// The text of the error f raises; empty when it raises none of this type.
template <class E, class F>
std::string message_of(const F& f) {
  try {
    f();
  } catch (const E& e) {
    return e.what();
  }
  return {};
}

inline Tensor leaf(double value, DType dtype = f64) {
  return full({}, value, dtype).requires_grad_();
}

}  // namespace fovea::testing
