// Random tensors. An element depends on the key of the call and its own index alone, so that the
// borders of the chunks and the number of threads leave no trace. None of them has a gradient.
#include "fovea/core/random.h"

#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "fovea/core/allocator.h"
#include "fovea/ops/internal.h"
#include "fovea/ops/kernels/convert.h"
#include "fovea/ops/kernels/random.h"

namespace fovea {
namespace {

constexpr int64_t kRandomGrain = 16384;

RandomKey key_from(Generator* g) { return (g ? *g : default_generator()).next(); }

// fill(T* out, begin, count) for the chunks of a new tensor.
template <class T, class Fill>
Tensor filled(const char* op, const Shape& shape, const Fill& fill) {
  shape.numel(op);
  Tensor y = Tensor::empty(shape, dtype_of<T>());
  T* p = y.data<T>();
  parallel_for(y.numel(), kRandomGrain,
               [&](int64_t begin, int64_t end) { fill(p + begin, begin, end - begin); });
  return y;
}

void need_floating(const char* op, DType dtype) {
  if (is_floating(dtype)) return;
  throw DTypeError(fmt::format("{}: dtype is {}; floats are needed", op, name(dtype)));
}

}  // namespace

namespace {

Tensor uniform_as(const char* op, const Shape& shape, double low, double high, DType dtype,
                  Generator* g) {
  need_floating(op, dtype);
  shape.numel(op);
  const RandomKey key = key_from(g);
  return visit_floating(dtype, [&](auto zero) {
    using T = decltype(zero);
    const auto from = static_cast<T>(low);
    const auto to = static_cast<T>(high);
    if (!(low <= high) || !std::isfinite(from) || !std::isfinite(to) || !std::isfinite(to - from)) {
      throw ValueError(
          fmt::format("{}: low is {}, high is {}; need low <= high, and both and their difference "
                      "finite in {}",
                      op, low, high, name(dtype)));
    }
    if (from == to) return full(shape, from, dtype);
    return filled<T>(op, shape, [&](T* out, int64_t begin, int64_t n) {
      kernels::fill_uniform(out, begin, n, key.seed, key.stream, from, to);
    });
  });
}

Tensor normal_as(const char* op, double mean, double std, const Shape& shape, DType dtype,
                 Generator* g) {
  need_floating(op, dtype);
  return visit_floating(dtype, [&](auto zero) {
    using T = decltype(zero);
    const auto centre = static_cast<T>(mean);
    const auto width = static_cast<T>(std);
    if (!std::isfinite(centre) || !std::isfinite(width) || std < 0) {
      throw ValueError(fmt::format("{}: mean is {}, std is {}; both must be finite in {}, std >= 0",
                                   op, mean, std, name(dtype)));
    }
    const RandomKey key = key_from(g);
    return filled<T>(op, shape, [&](T* out, int64_t begin, int64_t n) {
      kernels::fill_normal(out, begin, n, key.seed, key.stream, centre, width);
    });
  });
}

}  // namespace

Tensor uniform(const Shape& shape, double low, double high, DType dtype, Generator* g) {
  return uniform_as("uniform", shape, low, high, dtype, g);
}

Tensor rand(const Shape& shape, DType dtype, Generator* g) {
  return uniform_as("rand", shape, 0, 1, dtype, g);
}

Tensor normal(double mean, double std, const Shape& shape, DType dtype, Generator* g) {
  return normal_as("normal", mean, std, shape, dtype, g);
}

Tensor randn(const Shape& shape, DType dtype, Generator* g) {
  return normal_as("randn", 0, 1, shape, dtype, g);
}

Tensor rand_like(const Tensor& x, Generator* g) {
  detail::check_floating("rand_like", "x", x);
  return rand(x.shape(), x.dtype(), g);
}

Tensor randn_like(const Tensor& x, Generator* g) {
  detail::check_floating("randn_like", "x", x);
  return randn(x.shape(), x.dtype(), g);
}

Tensor randint(int64_t low, int64_t high, const Shape& shape, Generator* g) {
  if (low >= high) {
    throw ValueError(fmt::format("randint: low is {}, high is {}; need low < high", low, high));
  }
  const RandomKey key = key_from(g);
  return filled<int64_t>("randint", shape, [&](int64_t* out, int64_t begin, int64_t n) {
    kernels::fill_integers(out, begin, n, key.seed, key.stream, low, high);
  });
}

// Fisher and Yates's shuffle, as Durstenfeld 1964.
Tensor randperm(int64_t n, Generator* g) {
  if (n < 0) throw ValueError(fmt::format("randperm: n is {}; at least 0 is needed", n));
  Shape({n}).numel("randperm");
  Tensor y = arange(n);
  const RandomKey key = key_from(g);
  Scratch<uint64_t> bits(n);
  kernels::fill_bits64(bits.data(), 0, n, key.seed, key.stream);
  int64_t* p = y.data<int64_t>();
  __extension__ using Wide = unsigned __int128;
  for (int64_t i = n - 1; i > 0; --i) {
    const auto j =
        static_cast<int64_t>(static_cast<Wide>(bits[i]) * static_cast<uint64_t>(i + 1) >> 64);
    std::swap(p[i], p[j]);
  }
  return y;
}

// 1 where u < p, with u of 53 bits whatever the dtype: a small p keeps its meaning.
Tensor bernoulli(const Tensor& p, Generator* g) {
  detail::check_floating("bernoulli", "p", p);
  const RandomKey key = key_from(g);
  const Tensor probability = detail::packed(p);
  const Tensor y = visit_floating(p.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const T* ps = probability.data<T>();
    return filled<T>("bernoulli", p.shape(), [&](T* out, int64_t begin, int64_t n) {
      const T* at = ps + begin;
      bool good = true;
      for (int64_t i = 0; i < n; ++i) good &= at[i] >= 0 && at[i] <= 1;
      for (int64_t i = 0; i < n && !good; ++i) {
        if (at[i] >= 0 && at[i] <= 1) continue;
        throw ValueError(fmt::format("bernoulli: p is {} at element {} of {}; need 0 <= p <= 1",
                                     at[i], begin + i, p.shape().str()));
      }
      Scratch<double> u(n);
      Scratch<uint8_t> below(n);
      double* us = u.data();
      uint8_t* b = below.data();
      kernels::fill_uniform(us, begin, n, key.seed, key.stream, 0.0, 1.0);
      for (int64_t i = 0; i < n; ++i) b[i] = us[i] < at[i];
      kernels::convert(b, out, n);
    });
  });
  return unrecorded("bernoulli", y, {p});
}

}  // namespace fovea
