// What rows of attention share that has no softmax over all pairs.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "tests/op_cases/op_case.h"

namespace fovea::cases {

using Vectors = std::vector<Values1d>;

/// What a query gives the keys of its head: weights, by which its values are added up. `at` is the
/// index of the query, keep says which keys it sees.
using Weigh = std::function<Values1d(const Shape& at, const Values1d& q, const Vectors& k,
                                     const std::vector<bool>& keep)>;
using Sees = std::function<bool(const Shape& at, int64_t j)>;

/// One query after the other: q (.., H, Tq, D), k (.., Hk, Tk, D), v (.., Hk, Tk, Dv).
NaiveTensor attend(const NaiveTensor& q, const NaiveTensor& k, const NaiveTensor& v,
                   const Sees& sees, const Weigh& weigh);
/// x[at], the last axis.
Values1d row_of(const NaiveTensor& x, Shape at);
double dot_of(const Values1d& a, const Values1d& b);

/// Shapes, order and a mask of keys, which is the last input.
struct AttentionKind {
  const char* label;
  Shape q, k, v;
  bool causal = false;
  std::optional<InputSpec> mask = {};
  Sees sees(const NaiveTensors& x) const;
};
std::vector<AttentionKind> attention_kinds();

/// A row without its function: floats q, k, v and the mask.
OpCase attention_row(const char* name, const AttentionKind& kind);
/// What an operation of q (which messages call `q`), k, v and a mask of keys refuses.
std::vector<BadCase> bad_attention(
    const std::string& op, const std::string& q,
    const std::function<Tensor(const Tensors&, const Tensor& keep)>& f);

}  // namespace fovea::cases
