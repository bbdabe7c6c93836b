#include "fovea/core/gradcheck.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "fovea/core/engine.h"
#include "fovea/core/error.h"
#include "fovea/core/random.h"
#include "fovea/core/seam.h"

namespace fovea {
namespace {

// A scalar function of tensors, the loss whose gradient is checked.
using Loss = std::function<Tensor(const Tensors&)>;

class SeededGenerator {
 public:
  explicit SeededGenerator(uint64_t seed) : before_(default_generator().state()) {
    manual_seed(seed);
  }
  ~SeededGenerator() { default_generator().set_state(before_); }
  SeededGenerator(const SeededGenerator&) = delete;
  SeededGenerator& operator=(const SeededGenerator&) = delete;

 private:
  RandomKey before_;
};

void check_inputs(const Tensors& inputs) {
  bool any = false;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Tensor& x = inputs[i];
    if (!x.requires_grad()) continue;
    any = true;
    if (x.dtype() != f64) {
      throw DTypeError(
          fmt::format("gradcheck: input {} is {}; differences need f64", i, name(x.dtype())));
    }
    if (x.overlaps_itself()) {
      throw GraphError(fmt::format(
          "gradcheck: input {} {} overlaps itself; pass the base and expand inside the function", i,
          x.shape().str()));
    }
  }
  if (!any) throw GraphError("gradcheck: no input requires a gradient; call requires_grad_()");
}

// The element of x with row-major number n.
double& element(const Tensor& x, int64_t n) {
  int64_t offset = 0;
  for (int d = x.dim() - 1; d >= 0; --d) {
    offset += n % x.shape()[d] * x.strides()[d];
    n /= x.shape()[d];
  }
  return x.data<double>()[offset];
}

std::string index_of(const Tensor& x, int64_t n) {
  Shape index = x.shape();
  for (int d = x.dim() - 1; d >= 0; --d) {
    index[d] = n % x.shape()[d];
    n /= x.shape()[d];
  }
  return index.str();
}

double evaluate(const Loss& loss, const Tensors& inputs, uint64_t seed) {
  const SeededGenerator replay(seed);
  return loss(inputs).item();
}

double numeric(const Loss& loss, const Tensors& inputs, double& x, const GradcheckOptions& o) {
  const double before = x;
  const auto at = [&](double shift) {
    x = before + shift;
    return evaluate(loss, inputs, o.seed);
  };
  const double h = o.step;
  const double near = at(h) - at(-h);
  const double far = at(2 * h) - at(-2 * h);
  x = before;
  return (8 * near - far) / (12 * h);
}

GradcheckReport compare(const char* what, const Loss& loss, const Tensors& inputs,
                        const GradcheckOptions& o) {
  Tensors wanted;
  std::vector<size_t> number;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!inputs[i].requires_grad()) continue;
    wanted.push_back(inputs[i]);
    number.push_back(i);
  }
  Tensors analytic;
  double noise = 1e-3;  // what differences cannot resolve grows with the loss
  {
    const SeededGenerator replay(o.seed);
    const Tensor y = loss(inputs);
    noise *= std::max(1.0, std::fabs(y.item()));
    GradOptions g;
    g.allow_unused = true;
    // A loss that depends on no input has gradient zero everywhere.
    analytic = y.requires_grad() ? grad(y, wanted, g) : Tensors(wanted.size());
  }
  GradcheckReport report;
  const bool recording = grad_recording();
  for (size_t k = 0; k < wanted.size(); ++k) {
    const Tensor& x = wanted[k];
    const auto a = analytic[k].defined() ? analytic[k].to_vector<double>()
                                         : std::vector<double>(static_cast<size_t>(x.numel()), 0.0);
    std::vector<double> n(a.size());
    double largest = 0;
    for (int64_t j = 0; j < x.numel(); ++j) {
      const EnableGrad mode(recording);
      n[j] = numeric(loss, inputs, element(x, j), o);
      for (const double v : {std::fabs(a[j]), std::fabs(n[j])}) {
        if (v > largest) largest = v;
      }
    }
    for (size_t j = 0; j < a.size(); ++j) {
      const double floor = std::max(0.1 * largest, noise);
      const double err =
          std::fabs(a[j] - n[j]) / std::max({std::fabs(a[j]), std::fabs(n[j]), floor});
      const bool pass = err <= o.tolerance;
      if (report.input < 0 || (!(err <= report.error) && !std::isnan(report.error))) {
        report.error = err;
        report.input = static_cast<int64_t>(number[k]);
        report.element = static_cast<int64_t>(j);
        report.analytic = a[j];
        report.numeric = n[j];
      }
      if (pass || !report.ok) continue;
      report.ok = false;
      report.message = fmt::format(
          "{}: input {} {} at {}: analytic {:.10g}, numeric {:.10g}, relative error {:.3g} "
          "(allowed {:.3g})",
          what, number[k], x.shape().str(), index_of(x, static_cast<int64_t>(j)), a[j], n[j], err,
          o.tolerance);
    }
  }
  return report;
}

}  // namespace

GradcheckReport gradcheck(const TensorFunction& f, const Tensors& inputs,
                          const GradcheckOptions& o) {
  check_inputs(inputs);
  const Loss loss = [&](const Tensors& x) {
    const Tensor y = f(x);
    return seam::inner(y, seam::normal(y.shape(), y.dtype(), o.seed));
  };
  return compare("gradcheck", loss, inputs, o);
}

GradcheckReport gradgradcheck(const TensorFunction& f, const Tensors& inputs,
                              const GradcheckOptions& o) {
  check_inputs(inputs);
  Tensors all = inputs;
  {
    const SeededGenerator replay(o.seed);
    const Tensor y = f(inputs);
    if (!y.requires_grad()) return {};
    all.push_back(seam::normal(y.shape(), y.dtype(), o.seed).requires_grad_());
  }
  const Loss loss = [&](const Tensors& x) {
    const EnableGrad recording;
    const Tensors in(x.begin(), x.end() - 1);
    Tensors wanted;
    for (const Tensor& t : in) {
      if (t.requires_grad()) wanted.push_back(t);
    }
    GradOptions g;
    g.create_graph = true;
    g.allow_unused = true;
    g.upstream = x.back();
    Tensor total;
    uint64_t seed = o.seed;
    for (const Tensor& gx : grad(f(in), wanted, g)) {
      ++seed;
      if (!gx.defined()) continue;
      const Tensor part = seam::inner(gx, seam::normal(gx.shape(), gx.dtype(), seed));
      total = total.defined() ? seam::add(total, part) : part;
    }
    return total.defined()
               ? total
               : seam::inner(x.back().detach(), seam::normal(x.back().shape(), f64, o.seed));
  };
  return compare("gradgradcheck", loss, all, o);
}

}  // namespace fovea
