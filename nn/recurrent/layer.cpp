#include "fovea/nn/recurrent/layer.h"

#include <fmt/format.h>

#include <algorithm>

#include "fovea/core/error.h"
#include "fovea/nn/detail/widths.h"
#include "fovea/nn/recurrent/detail/weights.h"

namespace fovea {

Recurrent::Recurrent(const char* name, int64_t gates, const RecurrentLayerOptions& o)
    : name_(name), o_(o) {
  detail::check_widths(name, {{"in", o.in}, {"hidden", o.hidden}});
  if (o.layers < 1) {
    throw ValueError(fmt::format("{}: layers = {}; there is at least 1", name, o.layers));
  }
  if (!(o.dropout >= 0 && o.dropout <= 1)) {
    throw ValueError(fmt::format("{}: dropout is {}; it must be in [0, 1]", name, o.dropout));
  }
  for (int64_t layer = 0; layer < o.layers; ++layer) {
    const int64_t in = layer == 0 ? o.in : directions() * o.hidden;
    for (int64_t d = 0; d < directions(); ++d) {
      weights.push_back(detail::recurrent_weights(gates, in, o.hidden, o.bias, o.dtype));
    }
  }
}

void Recurrent::visit(Visitor& v) {
  for (size_t i = 0; i < weights.size(); ++i) {
    const int64_t layer = static_cast<int64_t>(i) / directions();
    const bool reverse = o_.bidirectional && i % 2 == 1;
    detail::visit_weights(v, weights[i], fmt::format("_l{}{}", layer, reverse ? "_reverse" : ""));
  }
}

int64_t Recurrent::check(const Tensor& x, const RecurrentState& initial,
                         const Tensor& lengths) const {
  if (x.dim() != 3 || x.size(2) != o_.in) {
    throw ShapeError(fmt::format("{}: x is {}; need ({}, {})", name_, x.shape().str(),
                                 o_.batch_first ? "B, T" : "T, B", o_.in));
  }
  detail::check_dtypes(name_, "x", x, weights[0]);
  const int64_t b = x.size(o_.batch_first ? 0 : 1), t = x.size(o_.batch_first ? 1 : 0);
  const auto check_state = [&](const char* arg, const Tensor& s) {
    if (!s.defined()) return;
    const Shape need{static_cast<int64_t>(weights.size()), b, o_.hidden};
    if (s.shape() != need) {
      throw ShapeError(fmt::format("{}: {} is {}, x is {}; need {} {}: layers * directions, B, H",
                                   name_, arg, s.shape().str(), x.shape().str(), arg, need.str()));
    }
    detail::check_dtypes(name_, arg, s, weights[0]);
  };
  check_state("h", initial.h);
  if (initial.c.defined() && !has_cell()) {
    throw ValueError(fmt::format("{}: a state c {} was given; only an LSTM has one, pass h alone",
                                 name_, initial.c.shape().str()));
  }
  check_state("c", initial.c);
  return lengths.defined() ? check_lengths(lengths, x, b, t) : t;
}

int64_t Recurrent::check_lengths(const Tensor& lengths, const Tensor& x, int64_t b,
                                 int64_t t) const {
  if (lengths.dtype() != i64) {
    throw DTypeError(
        fmt::format("{}: lengths are {}; need i64", name_, fovea::name(lengths.dtype())));
  }
  if (lengths.dim() != 1 || lengths.size(0) != b) {
    throw ShapeError(fmt::format("{}: lengths are {}, x is {}; need one for each sequence, [{}]",
                                 name_, lengths.shape().str(), x.shape().str(), b));
  }
  int64_t longest = 0;
  for (const int64_t n : lengths.to_vector<int64_t>()) {
    if (n < 0 || n > t) {
      throw ValueError(fmt::format("{}: a length is {}; x {} has {} steps, need 0 to {}", name_, n,
                                   x.shape().str(), t, t));
    }
    longest = std::max(longest, n);
  }
  return longest;
}

RecurrentOutput Recurrent::run_one(const Tensor& x, const RecurrentState& initial, size_t index,
                                   const Tensor& lengths) const {
  const auto start = [&](const Tensor& given) {
    return given.defined() ? select(given, 0, static_cast<int64_t>(index))
                           : zeros({x.size(0), o_.hidden}, x.dtype());
  };
  const RecurrentState first{start(initial.h), has_cell() ? start(initial.c) : Tensor()};
  const int64_t t = x.size(1);
  const bool reverse = o_.bidirectional && index % 2 == 1;
  const Tensor all = run(x, first, weights[index], {.lengths = lengths, .reverse = reverse});
  // Steps beyond a length keep the state: the one after all steps is that of the last step read.
  const auto end = [&](const Tensor& states, const Tensor& unread) {
    return t == 0 ? unread : select(states, 1, reverse ? 0 : t - 1);
  };
  if (!has_cell()) return {all, {end(all, first.h), {}}};
  const Tensor h = select(all, 0, 0);
  return {h, {end(h, first.h), end(select(all, 0, 1), first.c)}};
}

RecurrentOutput Recurrent::operator()(const Tensor& x, const RecurrentState& initial,
                                      const Tensor& lengths) const {
  const int64_t longest = check(x, initial, lengths);
  const Tensor steps = o_.batch_first ? x : transpose(x, 0, 1);
  // Steps that no sequence has are not run.
  const int64_t beyond = steps.size(1) - longest;
  Tensor y = beyond == 0 ? steps : narrow(steps, 1, 0, longest);
  Tensors h, c;
  for (size_t i = 0; i < weights.size();) {
    if (i > 0) y = dropout(y, o_.dropout, training);
    Tensors outputs;
    for (int64_t d = 0; d < directions(); ++d, ++i) {
      const RecurrentOutput one = run_one(y, initial, i, lengths);
      outputs.push_back(one.output);
      h.push_back(one.state.h);
      c.push_back(one.state.c);
    }
    y = outputs.size() == 1 ? outputs[0] : cat(outputs, 2);
  }
  if (lengths.defined()) {
    const Tensor within = arange(longest) < unsqueeze(lengths, 1);
    y = where(unsqueeze(within, 2), y, zeros({}, y.dtype()));
  }
  if (beyond > 0) y = pad(y, {0, 0, 0, beyond});
  if (!o_.batch_first) y = transpose(y, 0, 1);
  return {y, {stack(h, 0), has_cell() ? stack(c, 0) : Tensor()}};
}

}  // namespace fovea
