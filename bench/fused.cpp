// What fusing buys: the gradient of each operation that has two bodies, by its fused kernel and by
// the rule written in operations, in turns in one run. Which operations those are shows in what the
// backward pass does with FormulaRules on.
//
//     bench_fused                 all of them
//     bench_fused softmax gelu    rows whose name contains one of these
//
// Exit code 1 when a fused body is not the faster one.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <sstream>

#include "fovea/core/engine.h"
#include "fovea/core/node.h"
#include "fovea/core/random.h"
#include "fovea/core/trace.h"
#include "fovea/ops/ops.h"
#include "tests/op_cases/op_case.h"

namespace fovea {
namespace {

using cases::OpCase;

constexpr int kPairs = 31;
constexpr int64_t kElements = int64_t{1} << 20;

struct Problem {
  Tensors wanted;
  Tensor y, upstream;

  Tensors gradients(bool formula) const {
    const GradOptions o{.retain_graph = true, .allow_unused = true, .upstream = upstream};
    if (!formula) return grad(y, wanted, o);
    const FormulaRules scope;
    return grad(y, wanted, o);
  }
};

Problem problem_of(const OpCase& row, const std::vector<Shape>& shapes) {
  const Tensors inputs = cases::make_inputs(row.inputs, f32, 1, shapes);
  Problem p;
  for (const Tensor& x : inputs) {
    if (x.requires_grad()) p.wanted.push_back(x);
  }
  manual_seed(1);
  p.y = row.f(inputs);
  p.upstream = randn(p.y.shape(), p.y.dtype());
  return p;
}

// The big shapes of the row, the first axis stretched to about a million elements.
std::vector<Shape> stretched(const OpCase& row) {
  std::vector<Shape> shapes = row.big;
  const int64_t first = shapes[0].empty() ? 1 : shapes[0][0];
  const int64_t times = std::max<int64_t>(1, kElements / std::max<int64_t>(1, shapes[0].numel()));
  for (Shape& s : shapes) {
    if (!s.empty() && s[0] == first) s[0] *= times;
  }
  return shapes;
}

// Whether the operation is one node, and not a composition of others with two bodies.
bool is_node(const Node& n, const std::string& op) {
  if (n.op == op) return true;
  for (uint32_t i = 0; i < n.edge_count; ++i) {
    if (n.edges[i] && is_node(*n.edges[i], op)) return true;
  }
  return false;
}

std::string traced(const Problem& p, bool formula) {
  std::ostringstream text;
  const TraceShapes scope({.out = &text, .backward = true});
  (void)p.gradients(formula);
  return text.str();
}

double seconds(const Problem& p, bool formula) {
  const auto start = std::chrono::steady_clock::now();
  (void)p.gradients(formula);
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

double median(std::vector<double> v) {
  std::nth_element(v.begin(), v.begin() + static_cast<int64_t>(v.size() / 2), v.end());
  return v[v.size() / 2];
}

bool agree(const Tensors& a, const Tensors& b) {
  for (size_t i = 0; i < a.size(); ++i) {
    if (!a[i].defined() && !b[i].defined()) continue;
    if (cases::relative_error(cases::to_naive(a[i]), cases::to_naive(b[i]), 1) > 1e-5) return false;
  }
  return true;
}

bool has_two_bodies(const OpCase& row) {
  const Problem p = problem_of(row, row.big);
  return is_node(*p.y.node(), row.name) && traced(p, false) != traced(p, true);
}

// Whether the row passed: false when its fused body is wrong or slow.
bool compare(const OpCase& row) {
  const Problem p = problem_of(row, stretched(row));
  if (!agree(p.gradients(false), p.gradients(true))) {
    fmt::print("{:<32} the two gradients differ\n", row.id());
    return false;
  }
  std::vector<double> fused, formula, ratio;
  for (int i = 0; i < kPairs; ++i) {
    fused.push_back(seconds(p, false));
    formula.push_back(seconds(p, true));
    ratio.push_back(formula.back() / fused.back());
  }
  const bool faster = median(ratio) > 1;
  fmt::print("{:<32} {:<18} {:>9.3f} {:>9.3f} {:>7.2f}  {}\n", row.id(), p.wanted[0].shape().str(),
             median(fused) * 1e3, median(formula) * 1e3, median(ratio), faster ? "" : "SLOWER");
  return faster;
}

int run(int argc, char** argv) {
  const std::vector<std::string> filter(argv + 1, argv + argc);
  fmt::print("{:<32} {:<18} {:>9} {:>9} {:>7}\n", "gradient of (float32)", "shape", "fused ms",
             "formula", "ratio");
  bool good = true;
  for (const OpCase& row : cases::table()) {
    const std::string id = row.id();
    const auto contained = [&](const std::string& text) {
      return id.find(text) != std::string::npos;
    };
    if (!filter.empty() && std::none_of(filter.begin(), filter.end(), contained)) continue;
    if (!row.has_gradient() || row.big.empty() || !has_two_bodies(row)) continue;
    good = compare(row) && good;
    std::fflush(stdout);
  }
  return good ? 0 : 1;
}

}  // namespace
}  // namespace fovea

int main(int argc, char** argv) { return fovea::run(argc, argv); }
