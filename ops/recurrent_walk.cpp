// The walks over time. Sequences do not touch each other: the batch is cut into slices, and one
// task takes a slice through all its steps without waiting for another.
#include "fovea/ops/recurrent_walk.h"

#include <algorithm>

#include "fovea/ops/recurrent_steps.h"

namespace fovea::detail {

namespace {

// x (B, T, I) as (T, B, I).
Tensor time_first_view(const Tensor& x) {
  const Strides& s = x.strides();
  return x.alias({x.size(1), x.size(0), x.size(2)}, {s[1], s[0], s[2]});
}

// b_ih + b_hh, where the last plane may have that of the state for itself.
template <class T>
void add_biases(const RecurrentWalk& walk, const Tensor& b_ih, const Tensor& b_hh, T* bias) {
  const int64_t n = walk.gates * walk.hidden, apart = walk.planes > walk.gates ? walk.hidden : 0;
  std::fill(bias, bias + walk.width(), T(0));
  const auto add = [bias](const Tensor& b, int64_t from, int64_t to, int64_t shift) {
    if (!b.defined()) return;
    const int64_t stride = b.strides()[0];
    for (int64_t i = from; i < to; ++i) bias[i + shift] += b.data<T>()[i * stride];
  };
  add(b_ih, 0, n, 0);
  add(b_hh, 0, n - apart, 0);
  add(b_hh, n - apart, n, apart);
}

template <class T, class Kernel>
void forward(const RecurrentWalk& walk, const RecurrentSaved& s, Kernel kernel,
             const Tensor& planes, const Tensor& y) {
  const Tensor x = packed(walk.time_first ? time_first_view(s.x) : s.x);
  const Tensor h0 = packed(s.h0), c0 = s.c0.defined() ? packed(s.c0) : s.c0;
  const int64_t n = walk.hidden, gates = walk.gates * n, y_row = walk.time * n;
  const StepWeights<T> w_ih(walk, s.w_ih, true, walk.input, gates);
  const StepWeights<T> w_hh(walk, s.w_hh, true, n, gates);
  Scratch<T> bias(walk.width());
  add_biases(walk, s.b_ih, s.b_hh, bias.data());
  w_ih.rows(walk, x.data<T>(), walk.input, planes.data<T>(), walk.width());
  walk.each_slice([&](int64_t first, int64_t rows) {
    Scratch<T> h(rows * n), c(c0.defined() ? rows * n : 0), product(rows * gates);
    std::copy_n(h0.data<T>() + first * n, rows * n, h.data());
    if (c0.defined()) std::copy_n(c0.data<T>() + first * n, rows * n, c.data());
    for (int64_t i = 0; i < walk.time; ++i) {
      const int64_t t = walk.step(i), row = walk.row(first, t);
      T* at = planes.data<T>() + row * walk.width();
      w_hh.product(rows, h.data(), n, false, product.data(), gates);
      T* out = y.data<T>() + (first * walk.time + t) * n;
      kernel(kernels::RecurrentForward<T>{.rows = rows,
                                          .hidden = n,
                                          .t = t,
                                          .lengths = walk.lengths_from(first),
                                          .bias = bias.data(),
                                          .product = product.data(),
                                          .planes = at,
                                          .planes_row = walk.between() * walk.width(),
                                          .h = h.data(),
                                          .c = c0.defined() ? c.data() : nullptr,
                                          .y = out,
                                          .y_c = c0.defined() ? out + walk.batch * y_row : nullptr,
                                          .y_row = y_row});
    }
  });
}

template <class T, class Kernel>
void backward(const RecurrentWalk& walk, const RecurrentSaved& s, Kernel kernel,
              const Tensor& planes, const Tensor& gy_in, const RecurrentGradients& g,
              const Tensor* gx) {
  const Tensor gy = packed(gy_in), y = packed(s.y);
  const bool cells = s.c0.defined();
  const Tensor start = packed(cells ? s.c0 : s.h0);
  const int64_t n = walk.hidden, gates = walk.gates * n;
  const int64_t y_row = walk.time * n, all = walk.batch * y_row;
  const StepWeights<T> w_hh(walk, s.w_hh, false, gates, n);
  const StepWeights<T> w_ih(walk, s.w_ih, false, gates, gx ? walk.input : 0);
  const T* states = y.data<T>() + (cells ? all : 0);  // what the kernel wants before and after
  walk.each_slice([&](int64_t first, int64_t rows) {
    T* gh = g.h0.data<T>() + first * n;
    T* gc = cells ? g.c0.data<T>() + first * n : nullptr;
    std::fill_n(gh, rows * n, T(0));
    if (cells) std::fill_n(gc, rows * n, T(0));
    Scratch<T> gproduct(rows * gates);
    for (int64_t i = walk.time - 1; i >= 0; --i) {
      const int64_t t = walk.step(i), at = (first * walk.time + t) * n;
      const int64_t row = walk.row(first, t);
      kernel(kernels::RecurrentBackward<T>{
          .rows = rows,
          .hidden = n,
          .t = t,
          .lengths = walk.lengths_from(first),
          .planes = planes.defined() ? planes.data<T>() + row * walk.width() : nullptr,
          .planes_row = walk.between() * walk.width(),
          .after = states + at,
          .before = i == 0 ? start.data<T>() + first * n
                           : states + (first * walk.time + walk.step(i - 1)) * n,
          .after_row = y_row,
          .before_row = i == 0 ? n : y_row,
          .gy = gy.data<T>() + at,
          .gy_c = cells ? gy.data<T>() + all + at : nullptr,
          .gy_row = y_row,
          .gh = gh,
          .gc = gc,
          .gplanes = g.planes.data<T>() + row * walk.width(),
          .gproduct = gproduct.data()});
      w_hh.product(rows, gproduct.data(), gates, true, gh, n);
    }
  });
  if (gx) w_ih.rows(walk, g.planes.data<T>(), walk.width(), gx->data<T>(), walk.input);
}

}  // namespace

bool time_comes_first(const Tensor& x) {
  return !x.is_contiguous() && time_first_view(x).is_contiguous();
}

WalkedForward walk_forward(const RecurrentKind& kind, const RecurrentSaved& in,
                           const Tensor& lengths) {
  const RecurrentWalk walk(kind, in, lengths, time_comes_first(in.x));
  const Shape shape{walk.batch, walk.time, walk.hidden};
  WalkedForward out{
      Tensor::empty(in.c0.defined() ? Shape{2, shape[0], shape[1], shape[2]} : shape, in.x.dtype()),
      walk.buffer(in.x.dtype(), walk.width())};
  if (out.y.numel() == 0) return out;
  if (in.x.dtype() == f32) {
    forward<float>(walk, in, kind.forward.f32, out.planes, out.y);
  } else {
    forward<double>(walk, in, kind.forward.f64, out.planes, out.y);
  }
  return out;
}

RecurrentGradients walk_backward(const RecurrentKind& kind, const RecurrentSaved& s,
                                 const Tensor& lengths, const Tensor& planes, bool time_first,
                                 const Tensor& gy, Tensor* gx) {
  const RecurrentWalk walk(kind, s, lengths, time_first);
  if (gx) *gx = walk.buffer(s.x.dtype(), walk.input);
  RecurrentGradients g{walk.buffer(s.x.dtype(), walk.width()), empty_as(s.h0),
                       s.c0.defined() ? empty_as(s.c0) : Tensor()};
  if (s.x.dtype() == f32) {
    backward<float>(walk, s, kind.backward.f32, planes, gy, g, gx);
  } else {
    backward<double>(walk, s, kind.backward.f64, planes, gy, g, gx);
  }
  return g;
}

}  // namespace fovea::detail
