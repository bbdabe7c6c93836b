#include "tests/op_cases/golden.h"

#include <fmt/format.h>

#include <algorithm>

#include "fovea/core/engine.h"
#include "fovea/core/error.h"
#include "fovea/ops/ops.h"

namespace fovea::cases {

Golden::Golden(const std::vector<std::string>& paths) {
  for (const std::string& path : paths) {
    std::vector<std::string> ids;
    for (const auto& [name, tensor] : read_safetensors(path).tensors) {
      const std::string id = name.substr(0, name.rfind('/'));
      if (has(id)) throw ValueError(fmt::format("golden: {}: {} is in another file", path, id));
      if (std::find(ids.begin(), ids.end(), id) == ids.end()) ids.push_back(id);
      map_.tensors.emplace_back(name, tensor);
    }
    rows_.insert(rows_.end(), ids.begin(), ids.end());
  }
}

bool Golden::has(const std::string& id) const {
  return std::find(rows_.begin(), rows_.end(), id) != rows_.end();
}

const Tensor* Golden::find(const std::string& id, const std::string& what) const {
  return map_.find(id + "/" + what);
}

Golden::Agreement Golden::compare(const OpCase& row, DType floating) const {
  const std::string id = row.id();
  Tensors inputs, wanted, expected;
  for (size_t i = 0; const Tensor* x = find(id, fmt::format("input.{}", i)); ++i) {
    inputs.push_back(x->is_floating() ? clone(to(*x, floating)) : *x);
    if (const Tensor* g = find(id, fmt::format("gradient.{}", i))) {
      wanted.push_back(inputs.back().requires_grad_());
      expected.push_back(*g);
    }
  }
  if (inputs.size() != row.inputs.size() || (row.has_gradient() && wanted.empty())) {
    throw ValueError(
        fmt::format("golden: {}: {} inputs and {} gradients are stored, the row has "
                    "{} inputs; run make_golden.py again",
                    id, inputs.size(), wanted.size(), row.inputs.size()));
  }
  const Tensor y = row.f(inputs);
  Agreement worst;
  // A gradient that is 0 but for rounding (of the bias of keys, which softmax cancels) is held to
  // the size of the others.
  const double share = floating == f64 ? 0.01 : 0.1;
  double largest = 0;
  for (const Tensor& g : expected) {
    if (g.numel() > 0) largest = std::max(largest, max(abs(g)).item());
  }
  const auto meet = [&](const Tensor& got, const Tensor& want, const std::string& where) {
    const double error = relative_error(to_naive(got), to_naive(want), 0.1, share * largest);
    if (error > worst.error || worst.where.empty()) worst = {error, where};
  };
  meet(y, *find(id, "output"), "output");
  if (wanted.empty()) return worst;
  const Tensor upstream = to(*find(id, "upstream"), y.dtype());
  const Tensors g = grad(y, wanted, {.allow_unused = true, .upstream = upstream});
  for (size_t i = 0; i < g.size(); ++i) {
    meet(g[i].defined() ? g[i] : zeros_like(wanted[i]), expected[i], fmt::format("gradient {}", i));
  }
  return worst;
}

}  // namespace fovea::cases
