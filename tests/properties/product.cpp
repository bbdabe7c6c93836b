// Products of matrices and vectors, and einsum with random equations.
#include <algorithm>
#include <map>

#include "fovea/ops/ops.h"
#include "tests/op_cases/op_case.h"
#include "tests/properties/models.h"

namespace fovea::properties {
namespace {

const std::string kBatch = "uvwxyz";  // names of batch axes, the last of them last

int64_t any_size() {
  if (chance(12)) return 0;
  return chance(10) ? draw(6, 40) : draw(1, 5);
}

// The batch's letters and then these.
std::string lettered(const Shape& shape, const std::string& last) {
  const size_t batch = static_cast<size_t>(shape.rank()) - last.size();
  return kBatch.substr(kBatch.size() - batch) + last;
}

Shape joined(const Shape& batch, std::initializer_list<int64_t> last) {
  Shape s = batch;
  for (int64_t n : last) s.push_back(n);
  return s;
}

Trial matmul_trial() {
  const Shape batch = any_shape(0, 2);
  const int64_t m = any_size(), k = any_size(), n = any_size();
  Shape sa = broadcastable(batch), sb = chance(2) ? batch : broadcastable(batch);
  if (chance(2)) std::swap(sa, sb);
  std::string result = lettered(sa.rank() > sb.rank() ? sa : sb, "");
  const bool row = sa.empty() && chance(3), column = sb.empty() && chance(3);
  sa = row ? Shape{k} : joined(sa, {m, k});
  sb = column ? Shape{k} : joined(sb, {k, n});
  const std::string la = lettered(sa, row ? "j" : "ij"), lb = lettered(sb, column ? "j" : "jk");
  if (!row) result += 'i';
  if (!column) result += 'k';
  return products([](const Tensors& x) { return matmul(x[0], x[1]); },
                  {any_floats(sa), any_floats(sb)}, {la, lb}, result);
}

Trial linear_trial() {
  const DType t = any_floating();
  const int64_t in = any_size(), out = any_size();
  const Shape shape = joined(any_shape(0, 2), {in});
  const Tensor x = any_tensor(shape, {}, t), weight = any_tensor({out, in}, {}, t);
  const std::string rows = lettered(shape, "i"), result = lettered(shape, "o");
  if (chance(3)) {
    return products([](const Tensors& v) { return linear(v[0], v[1]); }, {x, weight}, {rows, "oi"},
                    result);
  }
  Trial y = products([](const Tensors& v) { return linear(v[0], v[1], v[2]); }, {x, weight},
                     {rows, "oi"}, result);
  const Tensor bias = any_tensor({out}, {}, t);
  y.inputs.push_back(bias);
  y.values[0] =
      cases::zip(y.values[0], cases::to_naive(bias), [](double a, double b) { return a + b; });
  y.gradients = [of_product = y.gradients, out](const NaiveTensors& w) {
    NaiveTensors g = of_product(w);
    g.push_back(summed_to(w[0], {out}));
    return g;
  };
  return y;
}

Trial dot_trial() {
  const int64_t n = draw(0, 40);
  return products([](const Tensors& x) { return dot(x[0], x[1]); },
                  {any_floats({n}), any_floats({n})}, {"i", "i"}, "");
}

Trial outer_trial() {
  return products([](const Tensors& x) { return outer(x[0], x[1]); },
                  {any_floats({draw(0, 12)}), any_floats({draw(0, 12)})}, {"i", "j"}, "ij");
}

Trial bmm_trial() {
  const int64_t b = any_size(), m = any_size(), k = any_size(), n = any_size();
  return products([](const Tensors& x) { return bmm(x[0], x[1]); },
                  {any_floats({b, m, k}), any_floats({b, k, n})}, {"bij", "bjk"}, "bik");
}

// One to three operands of up to three of five letters each, which may repeat (a diagonal), be of
// size 1 (broadcast), and stand behind an ellipsis; the result is any choice of them in any order,
// or implied.
Trial einsum_trial() {
  const std::string alphabet = "abcXY";
  std::map<char, int64_t> size, seen;
  for (char c : alphabet) size[c] = chance(12) ? 0 : draw(1, 3);
  const Shape batch = any_shape(0, 2);
  Tensors operands;
  std::vector<std::string> letters;
  std::string equation;
  size_t widest = 0;
  bool any_dots = false;
  for (int64_t count = draw(1, 3), k = 0; k < count; ++k) {
    std::string names;
    for (int64_t i = draw(0, 3); i > 0; --i) {
      names += alphabet[static_cast<size_t>(draw(0, static_cast<int64_t>(alphabet.size()) - 1))];
    }
    const bool dots = chance(3);
    Shape shape = dots ? broadcastable(batch) : Shape{};
    if (dots) widest = std::max(widest, static_cast<size_t>(shape.rank()));
    any_dots = any_dots || dots;
    std::map<char, int64_t> own = size;  // one size a letter within an operand
    for (char c : names) {
      if (chance(8)) own[c] = 1;
    }
    for (char c : names) shape.push_back(own[c]), ++seen[c];
    letters.push_back(lettered(shape, names));
    operands.push_back(any_floats(shape));
    equation += std::string(k > 0 ? (chance(3) ? ", " : ",") : "") + (dots ? "..." : "") + names;
  }
  std::string kept;
  const bool implied = chance(4);
  for (const auto& [c, times] : seen) {
    if (implied ? times == 1 : chance(2)) {
      const auto at = implied ? kept.size() : static_cast<size_t>(draw(0, kept.size()));
      kept.insert(kept.begin() + static_cast<std::ptrdiff_t>(at), c);
    }
  }
  if (!implied) equation += (any_dots ? " -> ..." : "->") + kept;
  return products([equation](const Tensors& x) { return einsum(equation, x); }, operands, letters,
                  kBatch.substr(kBatch.size() - widest) + kept);
}

}  // namespace

Properties product_properties() {
  return {{"matmul", matmul_trial}, {"linear", linear_trial}, {"dot", dot_trial},
          {"outer", outer_trial},   {"bmm", bmm_trial},       {"einsum", einsum_trial}};
}

}  // namespace fovea::properties
