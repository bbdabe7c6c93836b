// The walks over time. Sequences do not touch each other: the batch is cut into slices, and one
// task takes a slice through all its steps without waiting for another.
//
// What enters from x needs no state: one product makes it for all steps beforehand. What a step
// multiplies by W_hh is small, and OpenBLAS has kernels for small matrices that need not pack them;
// they are at their best when neither is transposed, so W_hh' is laid out once where there are
// steps enough to pay for it.
#include "fovea/ops/recurrent_walk.h"

#include <algorithm>

#include "fovea/ops/kernels/gemm.h"

namespace fovea::detail {

namespace {

constexpr int64_t kRows = 16;     // sequences of a slice
constexpr int64_t kFewSteps = 4;  // fewer do not pay for W_hh'

// What a call is about: sizes, and where the row of sequence b at step t lies.
struct Walk {
  int64_t batch, time, input, hidden, gates, planes;
  bool reverse, time_first;
  Tensor lengths;  // contiguous, or undefined

  Walk(const RecurrentCell& cell, const RecurrentSaved& s, const Tensor& l, bool first)
      : batch(s.x.size(0)),
        time(s.x.size(1)),
        input(s.x.size(2)),
        hidden(s.h0.size(1)),
        gates(cell.gates),
        planes(cell.planes),
        reverse(s.reverse),
        time_first(first),
        lengths(l.defined() ? packed(l) : l) {}

  int64_t step(int64_t n) const { return reverse ? time - 1 - n : n; }
  int64_t row(int64_t b, int64_t t) const { return time_first ? t * batch + b : b * time + t; }
  int64_t between() const { return time_first ? 1 : time; }  // rows from sequence to sequence
  int64_t width() const { return planes * hidden; }
  const int64_t* lengths_from(int64_t b) const {
    return lengths.defined() ? lengths.data<int64_t>() + b : nullptr;
  }
  Tensor buffer(DType t) const {  // (B, T, P H)
    const int64_t w = width();
    return time_first
               ? Tensor::empty({time, batch, w}, t).alias({batch, time, w}, {w, batch * w, 1})
               : Tensor::empty({batch, time, w}, t);
  }

  // f(first, rows) for every slice; the cuts are a function of the shape alone.
  template <class F>
  void each_slice(const F& f) const {
    const int64_t slices = std::max<int64_t>((batch + kRows - 1) / kRows, batch >= 8 ? 2 : 1);
    const int64_t worth = grain_for(time * hidden * gates * (hidden + input) / 8);
    parallel_for(batch, std::max((batch + slices - 1) / slices, worth),
                 [&](int64_t first, int64_t end) { f(first, end - first); });
  }
};

// C = A op(B) + beta C for few rows, by columns, so that no product is too large to go unpacked.
template <class T>
void thin_product(bool tb, int64_t m, int64_t n, int64_t k, const T* a, int64_t lda, const T* b,
                  int64_t ldb, T beta, T* c, int64_t ldc) {
  constexpr int64_t kUnpacked = 1'000'000;
  int64_t tile = std::min<int64_t>(128, kUnpacked / std::max<int64_t>(1, m * k) / 16 * 16);
  if (tile == 0) tile = n;
  for (int64_t j = 0; j < n; j += tile) {
    kernels::gemm(false, tb, m, std::min(tile, n - j), k, T(1), a, lda, b + (tb ? j * ldb : j), ldb,
                  beta, c + j, ldc);
  }
}

// W_ih x of all steps, into the first planes of each row.
template <class T>
void input_product(const Walk& walk, const T* x, const T* w_ih, T* planes) {
  const int64_t rows = walk.batch * walk.time, n = walk.gates * walk.hidden, k = walk.input;
  const kernels::GemmTiling tiling = kernels::gemm_tiling(rows, n, k);
  parallel_chunks(tiling.tiles(), [&](int64_t i) {
    kernels::gemm_tile(tiling, i, false, true, k, T(1), x, k, w_ih, k, T(0), planes, walk.width());
  });
}

// b_ih + b_hh, where the last plane may have that of the state for itself.
template <class T>
void add_biases(const Walk& walk, const Tensor& b_ih, const Tensor& b_hh, T* bias) {
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
void forward(const Walk& walk, const RecurrentSaved& s, Kernel kernel, const Tensor& planes,
             const Tensor& y) {
  const bool few = walk.time < kFewSteps;
  const Tensor w_ih = packed(s.w_ih), h0 = packed(s.h0), c0 = s.c0.defined() ? packed(s.c0) : s.c0;
  const Tensor w_hh = packed(few ? s.w_hh : transpose(s.w_hh, 0, 1));
  const Tensor x = packed(walk.time_first ? transpose(s.x, 0, 1) : s.x);
  const int64_t n = walk.hidden, product_width = walk.gates * n, y_row = walk.time * n;
  Scratch<T> bias(walk.width());
  add_biases(walk, s.b_ih, s.b_hh, bias.data());
  if (!few) input_product(walk, x.data<T>(), w_ih.data<T>(), planes.data<T>());
  walk.each_slice([&](int64_t first, int64_t rows) {
    Scratch<T> h(rows * n), c(c0.defined() ? rows * n : 0), product(rows * product_width);
    std::copy_n(h0.data<T>() + first * n, rows * n, h.data());
    if (c0.defined()) std::copy_n(c0.data<T>() + first * n, rows * n, c.data());
    for (int64_t i = 0; i < walk.time; ++i) {
      const int64_t t = walk.step(i), row = walk.row(first, t);
      T* at = planes.data<T>() + row * walk.width();
      if (few) {
        thin_product(true, rows, product_width, walk.input, x.data<T>() + row * walk.input,
                     walk.between() * walk.input, w_ih.data<T>(), walk.input, T(0), at,
                     walk.between() * walk.width());
      }
      thin_product(few, rows, product_width, n, h.data(), n, w_hh.data<T>(),
                   few ? n : product_width, T(0), product.data(), product_width);
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
void backward(const Walk& walk, const RecurrentSaved& s, Kernel kernel, const Tensor& planes,
              const Tensor& gy_in, const RecurrentGradients& g) {
  const Tensor w_hh = packed(s.w_hh), gy = packed(gy_in), y = packed(s.y);
  const bool cells = s.c0.defined();
  const Tensor start = packed(cells ? s.c0 : s.h0);
  const int64_t n = walk.hidden, y_row = walk.time * n, all = walk.batch * y_row;
  const T* states = y.data<T>() + (cells ? all : 0);  // what the kernel wants before and after
  walk.each_slice([&](int64_t first, int64_t rows) {
    T* gh = g.h0.data<T>() + first * n;
    T* gc = cells ? g.c0.data<T>() + first * n : nullptr;
    std::fill_n(gh, rows * n, T(0));
    if (cells) std::fill_n(gc, rows * n, T(0));
    Scratch<T> gproduct(rows * walk.gates * n);
    for (int64_t i = walk.time - 1; i >= 0; --i) {
      const int64_t t = walk.step(i), at = (first * walk.time + t) * n;
      const int64_t row = walk.row(first, t) * walk.width();
      kernel(kernels::RecurrentBackward<T>{
          .rows = rows,
          .hidden = n,
          .t = t,
          .lengths = walk.lengths_from(first),
          .planes = planes.defined() ? planes.data<T>() + row : nullptr,
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
          .gplanes = g.planes.data<T>() + row,
          .gproduct = gproduct.data()});
      for (int64_t k = 0; k < walk.gates; ++k) {
        thin_product(false, rows, n, n, gproduct.data() + k * n, walk.gates * n,
                     w_hh.data<T>() + k * n * n, n, T(1), gh, n);
      }
    }
  });
}

}  // namespace

bool time_comes_first(const Tensor& x) {
  return !x.is_contiguous() && transpose(x.detach(), 0, 1).is_contiguous();
}

WalkedForward walk_forward(const RecurrentCell& cell, const RecurrentSaved& in,
                           const Tensor& lengths) {
  const NoGrad scope;
  const Walk walk(cell, in, lengths, time_comes_first(in.x));
  const Shape shape{walk.batch, walk.time, walk.hidden};
  WalkedForward out{
      Tensor::empty(in.c0.defined() ? Shape{2, shape[0], shape[1], shape[2]} : shape, in.x.dtype()),
      walk.buffer(in.x.dtype())};
  if (out.y.numel() == 0) return out;
  if (in.x.dtype() == f32) {
    forward<float>(walk, in, cell.forward.f32, out.planes, out.y);
  } else {
    forward<double>(walk, in, cell.forward.f64, out.planes, out.y);
  }
  return out;
}

RecurrentGradients walk_backward(const RecurrentCell& cell, const RecurrentSaved& s,
                                 const Tensor& lengths, const Tensor& planes, bool time_first,
                                 const Tensor& gy) {
  const Walk walk(cell, s, lengths, time_first);
  RecurrentGradients g{walk.buffer(s.x.dtype()), empty_as(s.h0),
                       s.c0.defined() ? empty_as(s.c0) : Tensor()};
  if (s.x.dtype() == f32) {
    backward<float>(walk, s, cell.backward.f32, planes, gy, g);
  } else {
    backward<double>(walk, s, cell.backward.f64, planes, gy, g);
  }
  return g;
}

}  // namespace fovea::detail
