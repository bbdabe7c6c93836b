// Matrix products.     a, ga: (..., M, K); b, gb: (..., K, N); y, gy: (..., M, N)
// forward   y = a b for every pair of matrices; batches broadcast
// backward  ga = gy b',  gb = a' gy;  the engine sums them over broadcast batches
// saves     a and b, each only when the other's gradient needs it
#include "fovea/ops/matmul.h"

#include <fmt/format.h>

#include <algorithm>

#include "fovea/ops/internal.h"
#include "fovea/ops/kernels/gemm.h"
#include "fovea/ops/kernels/reduce.h"
#include "fovea/ops/panelled.h"

namespace fovea {
namespace detail {
namespace {

// How BLAS reads the last two axes: rows of `ld` elements, as they are or transposed.
struct Layout {
  bool transposed = false;
  int64_t ld = 1;
};

bool blas_layout(const Tensor& x, Layout& out) {
  const int r = x.dim();
  const int64_t rows = x.shape()[r - 2];
  const int64_t cols = x.shape()[r - 1];
  const int64_t sr = x.strides()[r - 2];
  const int64_t sc = x.strides()[r - 1];
  if ((sc == 1 || cols == 1) && (sr >= cols || rows == 1)) {
    out = {false, std::max({rows == 1 ? cols : sr, cols, int64_t{1}})};
    return cols == 1 ? sr >= 1 || rows == 1 : true;
  }
  if ((sr == 1 || rows == 1) && (sc >= rows || cols == 1)) {
    out = {true, std::max({cols == 1 ? rows : sc, rows, int64_t{1}})};
    return true;
  }
  return false;
}

[[noreturn]] void wrong_product(const char* op, const Tensor& a, const Tensor& b,
                                const char* need) {
  throw ShapeError(
      fmt::format("{}: a is {}, b is {}; {}", op, a.shape().str(), b.shape().str(), need));
}

// Whether b should be laid out once for all rows of a (panelled.h): when these are enough, and the
// panels neither half empty nor too many for the caches.
bool panels_pay(int64_t m, int64_t n, int64_t k, int64_t item) {
  constexpr int64_t kWork = 1'000'000, kBytes = 4'000'000;
  return kernels::panels_suit_machine() && m >= 128 && m >= n / 2 && n >= 32 && k >= 16 &&
         k * item <= kBytes / n && m * n > kWork / k && (n % 32 == 0 || n >= 128);
}

Tensor with_layout(const Tensor& x, Layout& l) {
  if (blas_layout(x, l)) return x;
  Tensor p = packed(x);
  blas_layout(p, l);
  return p;
}

}  // namespace

Tensor raw_matmul(const char* op, const Tensor& a_in, const Tensor& b_in, const Tensor& start) {
  Layout la;
  Layout lb;
  const Tensor a = with_layout(a_in, la);
  const Tensor b = with_layout(b_in, lb);
  const int64_t m = a.size(-2);
  const int64_t k = a.size(-1);
  const int64_t n = b.size(-1);
  const Shape batch_a(a.shape().begin(), a.dim() - 2);
  const Shape batch_b(b.shape().begin(), b.dim() - 2);
  Shape shape = broadcast_shapes(op, batch_a, batch_b);
  const Strides sa = broadcast_strides(batch_a, Strides(a.strides().begin(), a.dim() - 2), shape);
  const Strides sb = broadcast_strides(batch_b, Strides(b.strides().begin(), b.dim() - 2), shape);
  const Strides sy = contiguous_strides(shape);
  const auto c = collapse<3>(shape, {&sa, &sb, &sy});
  const int64_t batch = shape.numel(op);
  shape.push_back(m);
  shape.push_back(n);
  shape.numel(op);
  Tensor y = start.defined() ? start : Tensor::empty(shape, a.dtype());
  if (y.numel() == 0) return y;
  if (batch == 1 && panels_pay(m, n, k, item_size(a.dtype()))) {
    visit_floating(a.dtype(), [&](auto zero) {
      using T = decltype(zero);
      Panelled<T>(lb.transposed, b.data<T>(), lb.ld, k, n)
          .rows(m, la.transposed, a.data<T>(), la.ld, start.defined(), y.data<T>(), n);
    });
    return y;
  }
  const double beta = start.defined() ? 1 : 0;
  const kernels::GemmTiling tiling = kernels::gemm_tiling(m, n, k);
  const int64_t tiles = tiling.tiles();
  const int last = c.rank - 1;
  visit_floating(a.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const T* pa = a.data<T>();
    const T* pb = b.data<T>();
    T* py = y.data<T>();
    parallel_for(batch * tiles, tiles > 1 ? 1 : grain_for(m * n * k / 8),
                 [&](int64_t begin, int64_t end) {
                   for (int64_t t = begin; t < end; ++t) {
                     const int64_t i = t / tiles;
                     const int64_t row = i / c.row_length();
                     const int64_t col = i % c.row_length();
                     const auto off = c.row_offsets(row);
                     kernels::gemm_tile(tiling, t % tiles, la.transposed, lb.transposed, k, T(1),
                                        pa + off[0] + col * c.strides[0][last], la.ld,
                                        pb + off[1] + col * c.strides[1][last], lb.ld,
                                        static_cast<T>(beta), py + i * m * n, n);
                   }
                 });
  });
  return y;
}

void check_product(const char* op, const Tensor& a, const Tensor& b) {
  check_floating(op, "a", a);
  check_floating(op, "b", b);
  if (a.dim() == 0 || b.dim() == 0) wrong_product(op, a, b, "both need at least one axis");
}

}  // namespace detail

namespace {

// All axes but the last, as one.
int64_t rows_of(const Tensor& x) {
  int64_t rows = 1;
  for (int d = 0; d < x.dim() - 1; ++d) rows *= x.shape()[d];
  return rows;
}

// Both of rank >= 2.
Tensor product(const Tensor& a, const Tensor& b) {
  // One matrix for a whole batch: the batch's rows are rows of one larger product.
  if (b.dim() == 2 && a.dim() > 2) {
    Shape shape = a.shape();
    shape[shape.rank() - 1] = b.shape()[1];
    return reshape(product(reshape(a, {rows_of(a), a.shape().back()}), b), shape);
  }
  return record("matmul", detail::raw_matmul("matmul", a, b), {a, b},
                {save_if(b.requires_grad(), save_input("a", a)),
                 save_if(a.requires_grad(), save_input("b", b))},
                [](const Saved& s, const Tensor& gy) {
                  return grads(s.wants(0) ? matmul(gy, transpose(s[1], -2, -1)) : Tensor(),
                               s.wants(1) ? matmul(transpose(s[0], -2, -1), gy) : Tensor());
                });
}

// y = sum a b;  ga = gy b,  gb = gy a. Of two vectors of one length and dtype, in blocks and
// double: over a long axis BLAS loses digits (2 % of 10^7 floats).
Tensor inner(const Tensor& a, const Tensor& b) {
  const Tensor pa = detail::packed(a);
  const Tensor pb = detail::packed(b);
  constexpr int64_t kBlock = 65536;
  Scratch<double> parts((a.numel() + kBlock - 1) / kBlock);
  visit_floating(a.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const T* x = pa.data<T>();
    const T* y = pb.data<T>();
    parallel_for(a.numel(), kBlock, [&](int64_t begin, int64_t end) {
      parts[begin / kBlock] = kernels::dot(x + begin, y + begin, end - begin);
    });
  });
  double total = 0;
  for (int64_t i = 0; i * kBlock < a.numel(); ++i) total += parts[i];
  return record("dot", detail::scalar(total, a.dtype()), {a, b},
                {save_if(b.requires_grad(), save_input("a", a)),
                 save_if(a.requires_grad(), save_input("b", b))},
                [](const Saved& s, const Tensor& gy) {
                  return grads(s.wants(0) ? gy * s[1] : Tensor(),
                               s.wants(1) ? gy * s[0] : Tensor());
                });
}

}  // namespace

Tensor matmul(const Tensor& x, const Tensor& y) {
  detail::check_product("matmul", x, y);
  const DType t = promote(x.dtype(), y.dtype());
  if (x.dim() == 1 && x.shape() == y.shape()) return inner(to(x, t), to(y, t));
  const Tensor a = x.dim() == 1 ? unsqueeze(to(x, t), 0) : to(x, t);
  const Tensor b = y.dim() == 1 ? unsqueeze(to(y, t), 1) : to(y, t);
  if (a.size(-1) != b.size(-2)) {
    throw ShapeError(
        fmt::format("matmul: inner dimensions differ: a is {}, b is {}; need "
                    "a.shape[-1] == b.shape[{}]",
                    x.shape().str(), y.shape().str(), y.dim() == 1 ? -1 : -2));
  }
  try {
    const auto batch = [](const Tensor& t) { return Shape(t.shape().begin(), t.dim() - 2); };
    broadcast_shapes("matmul", batch(a), batch(b));
  } catch (const ShapeError&) {
    detail::wrong_product("matmul", x, y,
                          "all axes but the last two must be equal or 1, aligned at the right");
  }
  Tensor out = product(a, b);
  if (y.dim() == 1) out = squeeze(out, -1);
  if (x.dim() == 1) out = squeeze(out, y.dim() == 1 ? -1 : -2);
  return out;
}

// y = x w' + bias;  gx = gy w,  gw = gy' x and gbias = sum gy, over all rows
Tensor linear(const Tensor& x, const Tensor& weight, const Tensor& bias) {
  detail::check_floating("linear", "x", x);
  detail::check_floating("linear", "weight", weight);
  const bool fits = x.dim() > 0 && weight.dim() == 2 && x.shape().back() == weight.shape()[1];
  const bool bias_fits = !bias.defined() || (bias.dim() == 1 && bias.numel() == weight.shape()[0]);
  if (!fits || !bias_fits) {
    throw ShapeError(
        fmt::format("linear: x is {}, weight is {}, bias is {}; need x (..., I), weight "
                    "(O, I), bias (O)",
                    x.shape().str(), weight.shape().str(), detail::shape_or_undefined(bias)));
  }
  if (x.dtype() != weight.dtype() || (bias.defined() && bias.dtype() != x.dtype())) {
    throw DTypeError(fmt::format(
        "linear: x is {}, weight is {}, bias is {}; they must be of one dtype, convert with to()",
        name(x.dtype()), name(weight.dtype()),
        bias.defined() ? name(bias.dtype()) : std::string_view("undefined")));
  }
  Shape shape = x.shape();
  shape[shape.rank() - 1] = weight.shape()[0];
  const int64_t in = weight.shape()[1];
  const int64_t out = weight.shape()[0];
  const int64_t rows = rows_of(x);
  const Tensor x2 = reshape(x, {rows, in});
  Tensor start;
  if (bias.defined()) {
    start = Tensor::empty({rows, out}, x.dtype());
    detail::copy_into(start, bias);
  }
  Tensor y = detail::raw_matmul("linear", x2, transpose(weight.detach(), 0, 1), start);
  y = record("linear", std::move(y), {x2, weight, bias},
             {save_if(weight.requires_grad(), save_input("x", x2)),
              save_if(x2.requires_grad(), save_input("weight", weight))},
             [](const Saved& s, const Tensor& gy) {
               return grads(s.wants(0) ? matmul(gy, s[1]) : Tensor(),
                            s.wants(1) ? matmul(transpose(gy, 0, 1), s[0]) : Tensor(), gy);
             });
  return reshape(y, shape);
}

Tensor dot(const Tensor& a, const Tensor& b) {
  detail::check_product("dot", a, b);
  if (a.dim() != 1 || b.dim() != 1 || a.numel() != b.numel()) {
    detail::wrong_product("dot", a, b, "need two vectors of one length");
  }
  const DType t = promote(a.dtype(), b.dtype());
  return inner(to(a, t), to(b, t));
}

Tensor outer(const Tensor& a, const Tensor& b) {
  detail::check_product("outer", a, b);
  if (a.dim() != 1 || b.dim() != 1) {
    detail::wrong_product("outer", a, b, "need two vectors");
  }
  Shape({a.numel(), b.numel()}).numel("outer");
  return unsqueeze(a, 1) * unsqueeze(b, 0);
}

Tensor bmm(const Tensor& a, const Tensor& b) {
  detail::check_product("bmm", a, b);
  if (a.dim() != 3 || b.dim() != 3 || a.shape()[0] != b.shape()[0] ||
      a.shape()[2] != b.shape()[1]) {
    detail::wrong_product("bmm", a, b, "need (B, M, K) and (B, K, N)");
  }
  return matmul(a, b);
}

}  // namespace fovea
