// Views of every kind as inputs, and as gradients that arrive.
#include "tests/op_cases/layouts.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "fovea/ops/ops.h"
#include "tests/checks/checks.h"

namespace fovea::cases {

// Each input in turn in each odd layout against the same elements in a contiguous tensor.
void layouts(const OpCase& row) {
  if (row.needs_contiguous) return;
  for (DType t : {f64, f32}) {
    const Tensors inputs = make_inputs(row.inputs, t, kSeed);
    for (size_t k = 0; k < inputs.size(); ++k) {
      for (const Layout layout : kOddLayouts) {
        const auto odd = laid_out(inputs[k].detach(), layout);
        if (!odd) continue;
        const std::string what = fmt::format("input {} {} {}", k, fovea::name(t), name(layout));
        SCOPED_TRACE(what);
        const Tensor plain = *laid_out(*odd, Layout::contiguous);
        if (inputs[k].requires_grad()) odd->requires_grad_(), plain.requires_grad_();
        Tensors a = inputs, b = inputs;
        a[k] = *odd;
        b[k] = plain;
        const Tensor ya = call(row.f, a), yb = call(row.f, b);
        if (row.naive) expect_equal(ya, yb, epsilon(t), what);
        if (row.property && layout != Layout::expanded && row.name != "empty_like") {
          expect_equal(ya, yb, epsilon(t), what);
        }
        if (!row.differentiable) continue;
        const Tensor up = upstream_for(yb);
        expect_equal(gradients(row, a, ya, up, false), gradients(row, b, yb, up, false), epsilon(t),
                     what);
        expect_equal(gradients(row, a, ya, up, true), gradients(row, b, yb, up, true), epsilon(t),
                     what + " formula");
      }
    }
  }
}

// Gradients that arrive in odd layouts: from y.sum() all strides are 0, from y.t() they are turned.
void upstream(const OpCase& row) {
  for (DType t : {f64, f32}) {
    const Tensors inputs = make_inputs(row.inputs, t, kSeed);
    const Tensor y = call(row.f, inputs);
    const auto check = [&](const Tensor& odd, const std::string& what) {
      const Tensor plain = *laid_out(odd, Layout::contiguous);
      for (bool create : {false, true}) {
        expect_equal(gradients(row, inputs, y, odd, create),
                     gradients(row, inputs, y, plain, create), epsilon(t), what);
      }
    };
    const Tensor up = upstream_for(y);
    for (const Layout layout : kOddLayouts) {
      const auto odd = laid_out(up, layout);
      if (odd) check(*odd, name(layout));
    }
    if (y.numel() > 0) check(up.alias(y.shape(), Shape::filled(y.dim(), 0)), "sum");
  }
}

}  // namespace fovea::cases
