// What the naive loops of attention layers share: scores of pairs, softmax of what is kept, means.
#pragma once

#include <functional>

#include "tests/op_cases/naive.h"

namespace fovea::cases {

double naive_dot(const Values1d& a, const Values1d& b);
/// W x for W (rows, columns).
Values1d naive_product(const NaiveTensor& w, const Values1d& x);
/// tanh(a + b)
Values1d naive_tanh(const Values1d& a, const Values1d& b);
/// The last axis of x at (b, t).
Values1d line_at(const NaiveTensor& x, int64_t b, int64_t t);

/// f(q_i, k_j) for every pair of q (B, Tq, Dq) and keys (B, Tk, Dk) -> (B, Tq, Tk).
NaiveTensor pair_scores(const NaiveTensor& q, const NaiveTensor& keys,
                        const std::function<double(const Values1d&, const Values1d&)>& f);

/// softmax over the last axis of scores (B, Tq, Tk) where keep(b, i, j), 0 elsewhere.
NaiveTensor kept_softmax(const NaiveTensor& scores,
                         const std::function<bool(int64_t, int64_t, int64_t)>& keep);
/// weights (B, Tq, Tk) times values (B, Tk, Dv), and the weights beside it: (B, Tq, Dv + Tk).
NaiveTensor context_and_weights(const NaiveTensor& weights, const NaiveTensor& values);

}  // namespace fovea::cases
