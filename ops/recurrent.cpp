// The checks, the node and the gradients that rnn, lstm and gru share. recurrent_walk.cpp has the
// walks over time.
#include "fovea/ops/recurrent.h"

#include <fmt/format.h>

#include "fovea/ops/recurrent_walk.h"

namespace fovea::detail {

namespace {

void check_shapes(const RecurrentKind& kind, const Tensor& x, const Tensor& h0, const Tensor* c0,
                  const RecurrentWeights& w) {
  const auto is = [](const Tensor& t, const Shape& shape) { return t.shape() == shape; };
  bool fits = x.dim() == 3 && h0.dim() == 2;
  if (fits) {
    const int64_t hidden = h0.size(1), rows = kind.gates * hidden;
    fits = h0.size(0) == x.size(0) && (!c0 || is(*c0, h0.shape())) &&
           is(w.weight_ih, {rows, x.size(2)}) && is(w.weight_hh, {rows, hidden}) &&
           (!w.bias_ih.defined() || is(w.bias_ih, {rows})) &&
           (!w.bias_hh.defined() || is(w.bias_hh, {rows}));
  }
  if (fits) return;
  const std::string gates = kind.gates == 1 ? "" : fmt::format("{} ", kind.gates);
  throw ShapeError(fmt::format(
      "{}: x is {}, h0 is {}, {}weight_ih is {}, weight_hh is {}, bias_ih is {}, bias_hh is {}; "
      "need x (B, T, I), h0 {}(B, H), weight_ih ({}H, I), weight_hh ({}H, H), and biases ({}H) or "
      "undefined",
      kind.op, x.shape().str(), h0.shape().str(),
      c0 ? fmt::format("c0 is {}, ", c0->shape().str()) : "", w.weight_ih.shape().str(),
      w.weight_hh.shape().str(), shape_or_undefined(w.bias_ih), shape_or_undefined(w.bias_hh),
      c0 ? "and c0 " : "", gates, gates, gates));
}

void check_lengths(const char* op, const Tensor& x, const Tensor& lengths) {
  check_dtype(op, "lengths", lengths, i64);
  if (lengths.shape() != Shape{x.size(0)}) {
    throw ShapeError(fmt::format("{}: lengths is {}, x is {}; need lengths (B) and x (B, T, I)", op,
                                 lengths.shape().str(), x.shape().str()));
  }
  const std::vector<int64_t> values = lengths.to_vector<int64_t>();
  for (size_t b = 0; b < values.size(); ++b) {
    if (values[b] >= 0 && values[b] <= x.size(1)) continue;
    throw ValueError(fmt::format("{}: lengths[{}] is {}, x is {}; it must be from 0 to T = {}", op,
                                 b, values[b], x.shape().str(), x.size(1)));
  }
}

// x (B, T, ..) where a sequence has the step, else 0.
Tensor kept(const Tensor& keep, const Tensor& x) {
  return keep.defined() ? where(keep, x, zeros({}, x.dtype())) : x;
}

// The gradients of the weights and the biases, in ops for either rule: sums over all steps. g:
// those of the planes. The first two axes of x, h (the states before) and g are B, T or T, B. x and
// h are read where their weights' gradients are wanted.
struct WeightGradients {
  Tensor w_ih, w_hh, b_ih, b_hh;
};
WeightGradients weight_gradients(const RecurrentKind& kind, const Saved& saved, const Tensor& x,
                                 const Tensor& h, const Tensor& g) {
  const int64_t rows = g.size(0) * g.size(1), n = saved[3].size(1), gates = kind.gates;
  const Tensor flat = reshape(g, {rows, kind.planes * n});
  // f(first, count) of the columns that belong to W_hh h + b_hh, one below the other.
  const auto of_state = [&](const auto& f) {
    if (kind.planes == gates) return f(0, gates * n);
    return cat({f(0, (gates - 1) * n), f(gates * n, n)}, 0);
  };
  WeightGradients out;
  if (saved.wants(2)) {
    const Tensor of_input = narrow(flat, 1, 0, gates * n);
    out.w_ih = matmul(transpose(of_input, 0, 1), reshape(x, {rows, x.size(2)}));
  }
  if (saved.wants(3)) {
    const Tensor before = reshape(h, {rows, n});
    out.w_hh = of_state([&](int64_t first, int64_t count) {
      return matmul(transpose(narrow(flat, 1, first, count), 0, 1), before);
    });
  }
  if (!saved.wants(4) && !saved.wants(5)) return out;
  const Tensor total = sum(flat, 0);
  if (saved.wants(4)) out.b_ih = narrow(total, 0, 0, gates * n);
  if (saved.wants(5)) {
    out.b_hh =
        of_state([&](int64_t first, int64_t count) { return narrow(total, 0, first, count); });
  }
  return out;
}

Tensors recurrent_vjp(const RecurrentKind& kind, const Saved& saved, bool reverse,
                      const Tensor& gy) {
  const Tensor &lengths = saved[8], &planes = saved[9];
  RecurrentSaved s{saved[0], saved[1], saved[6], saved[2], saved[3], saved[4],
                   saved[5], saved[7], {},       reverse,  {}};
  if (s.y.numel() == 0) {
    Tensors none;
    for (const Tensor& t : {s.x, s.h0, s.w_ih, s.w_hh, s.b_ih, s.b_hh, s.c0}) {
      none.push_back(t.defined() ? zeros_like(t) : Tensor());
    }
    return none;
  }
  if (lengths.defined()) {
    s.keep = unsqueeze(unsqueeze(arange(s.x.size(1)), 0) < unsqueeze(lengths, 1), 2);
  }
  const auto keep_steps = [&s] { s.x = kept(s.keep, s.x); };
  const auto make_before = [&s] {
    const Tensor after = s.c0.defined() ? select(s.y, 0, 0) : s.y;
    s.before = kept(s.keep, states_before(s.h0, after, s.reverse));
  };
  RecurrentGradients g;
  WeightGradients in;
  Tensor gx;
  if (use_formula()) {
    keep_steps();
    make_before();
    g = kind.rule(s, gy);
    in = weight_gradients(kind, saved, s.x, s.before, g.planes);
    if (saved.wants(0)) gx = matmul(narrow(g.planes, 2, 0, s.w_ih.size(0)), s.w_ih);
  } else {
    const bool time_first = time_comes_first(s.x);
    g = walk_backward(kind, s, lengths, planes, time_first, gy, saved.wants(0) ? &gx : nullptr);
    // What the walk does not read is made behind it, and where it is asked for.
    if (saved.wants(2)) keep_steps();
    if (saved.wants(3)) make_before();
    const auto order = [&](const Tensor& t) {
      return time_first && t.defined() ? transpose(t, 0, 1) : t;
    };
    in = weight_gradients(kind, saved, order(s.x), order(s.before), order(g.planes));
  }
  return {gx, g.h0, in.w_ih, in.w_hh, in.b_ih, in.b_hh, g.c0};
}

}  // namespace

Tensor states_before(const Tensor& first, const Tensor& after, bool reverse) {
  const Tensor start = unsqueeze(first, 1);
  const int64_t rest = after.size(1) - 1;
  if (rest == 0) return start;
  return reverse ? cat({narrow(after, 1, 1, rest), start}, 1)
                 : cat({start, narrow(after, 1, 0, rest)}, 1);
}

std::pair<Tensor, Tensor> walk_back(const RecurrentSaved& s, const Tensor& gy,
                                    const BackStep& step) {
  const int64_t steps = gy.size(1);
  Tensors all(static_cast<size_t>(steps));
  Tensor g = zeros({gy.size(0), gy.size(2)}, gy.dtype());
  for (int64_t n = steps - 1; n >= 0; --n) {
    const int64_t t = s.reverse ? steps - 1 - n : n;
    g = g + select(gy, 1, t);
    auto [before, d] = step(t, g);
    if (s.keep.defined()) {
      const Tensor keep = select(s.keep, 1, t);
      before = where(keep, before, g);
      d = kept(keep, d);
    }
    g = before;
    all[static_cast<size_t>(t)] = d;
  }
  return {stack(all, 1), g};
}

Tensor recurrent(const RecurrentKind& kind, const Tensor& x_in, const Tensor& h0_in,
                 const Tensor* c0_in, const RecurrentWeights& w, const RecurrentOptions& o) {
  struct Argument {
    const char* name;
    const Tensor* x;
  };
  DType type = f32;
  for (const auto& [name, t] :
       {Argument{"x", &x_in}, Argument{"h0", &h0_in}, Argument{"c0", c0_in},
        Argument{"weight_ih", &w.weight_ih}, Argument{"weight_hh", &w.weight_hh},
        Argument{"bias_ih", w.bias_ih.defined() ? &w.bias_ih : nullptr},
        Argument{"bias_hh", w.bias_hh.defined() ? &w.bias_hh : nullptr}}) {
    if (!t) continue;
    check_floating(kind.op, name, *t);
    type = promote(type, t->dtype());
  }
  check_shapes(kind, x_in, h0_in, c0_in, w);
  if (o.lengths.defined()) check_lengths(kind.op, x_in, o.lengths);
  const auto as = [type](const Tensor& t) { return t.defined() ? to(t, type) : t; };
  const Tensor x = as(x_in), h0 = as(h0_in), c0 = c0_in ? as(*c0_in) : Tensor();
  const Tensor w_ih = as(w.weight_ih), w_hh = as(w.weight_hh);
  const Tensor b_ih = as(w.bias_ih), b_hh = as(w.bias_hh);
  const auto [y, planes] =
      walk_forward(kind, {x, h0, c0, w_ih, w_hh, b_ih, b_hh, {}, {}, o.reverse, {}}, o.lengths);
  return record(
      kind.op, y, {x, h0, w_ih, w_hh, b_ih, b_hh, c0},
      {save_input("x", x), save_input("h0", h0), save_input("weight_ih", w_ih),
       save_input("weight_hh", w_hh), save_if(b_ih.defined(), save_input("bias_ih", b_ih)),
       save_if(b_hh.defined(), save_input("bias_hh", b_hh)),
       save_if(c0.defined(), save_input("c0", c0)), save_output(y),
       save_if(o.lengths.defined(), save_input("lengths", o.lengths)),
       save_if(kind.saves_planes, save_extra("planes", planes))},
      [&kind, reverse = o.reverse](const Saved& s, const Tensor& gy) {
        return recurrent_vjp(kind, s, reverse, gy);
      });
}

}  // namespace fovea::detail
