// Rows of a table by number.                 weight: (V, D), ids: (..), y, gy: (.., D), gw: (V, D)
// forward   y_i = weight[ids_i]
// backward  gw_v = sum of gy_i over the i with ids_i = v; 0 for v = padding_idx
// saves     the ids
// The gradient is linear in gy, and its own vjp is again a look-up, with rows of padding_idx as 0.
#include <fmt/format.h>

#include <algorithm>

#include "fovea/core/allocator.h"
#include "fovea/ops/index.h"
#include "fovea/ops/kernels/binary.h"

namespace fovea {
namespace {

constexpr int64_t kWidth = 256;  // columns summed at a time
constexpr int64_t kBlock = 128;  // rows summed in T, before the sums are added in double

// The numbers 0 .. n - 1 in the order of their ids, equal ids in order of appearance: those of id v
// are place[start[v]] up to place[start[v + 1]].
class Buckets {
 public:
  Buckets(const int64_t* ids, int64_t n, int64_t v) : start_(v + 1), place_(n) {
    std::fill_n(start_.data(), v + 1, 0);
    for (int64_t i = 0; i < n; ++i) ++start_[ids[i]];
    for (int64_t k = 0, sum = 0; k <= v; ++k) {
      const int64_t count = k < v ? start_[k] : 0;
      start_[k] = sum;
      sum += count;
    }
    for (int64_t i = 0; i < n; ++i) place_[start_[ids[i]]++] = i;
    for (int64_t k = v; k > 0; --k) start_[k] = start_[k - 1];
    start_[0] = 0;
  }
  const int64_t* begin(int64_t v) { return place_.data() + start_[v]; }
  const int64_t* end(int64_t v) { return place_.data() + start_[v + 1]; }

 private:
  Scratch<int64_t> start_, place_;
};

// out = sum of the rows at first .. last, n <= kWidth columns of them.
template <class T>
void sum_rows(const T* rows, int64_t stride, const int64_t* first, const int64_t* last, T* out,
              int64_t n) {
  const auto sum_block = [&](const int64_t* from, const int64_t* to) {
    std::copy_n(rows + *from * stride, n, out);
    while (++from < to) kernels::add_inplace(out, rows + *from * stride, n);
  };
  if (first == last) {
    std::fill_n(out, n, T(0));
  } else if (last - first <= kBlock) {
    sum_block(first, last);
  } else {
    double total[kWidth] = {};
    for (; first < last; first += std::min(kBlock, last - first)) {
      sum_block(first, std::min(first + kBlock, last));
      for (int64_t i = 0; i < n; ++i) total[i] += out[i];
    }
    for (int64_t i = 0; i < n; ++i) out[i] = static_cast<T>(total[i]);
  }
}

// Every element of gw is one sum in one fixed order: threads only share them out.
template <class T>
void sum_by_id(const T* gy, const int64_t* ids, int64_t n, int64_t padding, const Tensor& gw) {
  const int64_t v = gw.shape()[0];
  const int64_t d = gw.shape()[1];
  Buckets buckets(ids, n, v);
  T* out = gw.data<T>();
  const int64_t parts = (d + kWidth - 1) / kWidth;
  const int64_t grain = grain_for(std::min(d, kWidth) * (1 + n / std::max<int64_t>(1, v)));
  parallel_for(parts * v, grain, [&](int64_t begin, int64_t end) {
    for (int64_t t = begin; t < end; ++t) {
      const int64_t id = t % v;
      const int64_t at = t / v * kWidth;
      const int64_t* first = buckets.begin(id);
      const int64_t* last = id == padding ? first : buckets.end(id);
      sum_rows(gy + at, d, first, last, out + id * d + at, std::min(kWidth, d - at));
    }
  });
}

template <class T>
void look_up(const Tensor& weight, const int64_t* ids, int64_t n, int64_t zero_id, T* y) {
  const T* table = weight.data<T>();
  const int64_t d = weight.shape()[1];
  parallel_for(n, grain_for(d), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      if (ids[i] == zero_id) {
        std::fill_n(y + i * d, d, T(0));
      } else {
        std::copy_n(table + ids[i] * d, d, y + i * d);
      }
    }
  });
}

Tensor summed(const Tensor& gy, const Tensor& ids, int64_t v, int64_t padding);

// zero_id: the id whose rows read as zeros, or -1.
Tensor looked_up(const Tensor& weight, const Tensor& ids, int64_t padding, int64_t zero_id) {
  const Tensor table = detail::packed(weight);
  const Tensor packed_ids = detail::packed(ids);
  Shape shape = ids.shape();
  shape.push_back(weight.shape()[1]);
  Tensor y = Tensor::empty(shape, weight.dtype());
  visit_floating(weight.dtype(), [&](auto zero) {
    look_up(table, packed_ids.data<int64_t>(), ids.numel(), zero_id, y.data<decltype(zero)>());
  });
  return record("embedding", std::move(y), {weight}, {save_input("ids", ids)},
                [padding, v = weight.shape()[0]](const Saved& s, const Tensor& gy) {
                  return summed(gy, s[0], v, padding);
                });
}

Tensor summed(const Tensor& gy, const Tensor& ids, int64_t v, int64_t padding) {
  const Tensor rows = detail::packed(gy);
  const Tensor packed_ids = detail::packed(ids);
  Tensor gw = Tensor::empty({v, gy.shape().back()}, gy.dtype());
  visit_floating(gy.dtype(), [&](auto zero) {
    sum_by_id(rows.data<decltype(zero)>(), packed_ids.data<int64_t>(), ids.numel(), padding, gw);
  });
  return record("embedding_backward", std::move(gw), {gy}, {save_input("ids", ids)},
                [padding](const Saved& s, const Tensor& ggw) {
                  return looked_up(ggw, s[0], padding, padding);
                });
}

}  // namespace

Tensor embedding(const Tensor& weight, const Tensor& ids, int64_t padding_idx) {
  detail::check_floating("embedding", "weight", weight);
  detail::check_dtype("embedding", "ids", ids, i64);
  if (weight.dim() != 2) {
    throw ShapeError(fmt::format("embedding: weight is {}, ids is {}; need weight (V, D)",
                                 weight.shape().str(), ids.shape().str()));
  }
  detail::check_rank("embedding", "ids", ids, ids.dim() + 1);
  const int64_t v = weight.shape()[0];
  if (padding_idx < -1 || padding_idx >= v) {
    throw IndexError(fmt::format(
        "embedding: padding_idx is {}, weight is {}; it must be a row of weight, or -1 for none",
        padding_idx, weight.shape().str()));
  }
  detail::check_index("embedding", "ids", ids, v, 0, "weight", weight.shape());
  return looked_up(weight, ids, padding_idx, -1);
}

}  // namespace fovea
