// one_hot   x: (..), y: (.., C)    y_c = 1 where c = x, else 0    no gradient: integers
#include <fmt/format.h>

#include "fovea/ops/index.h"

namespace fovea {

Tensor one_hot(const Tensor& x, int64_t classes) {
  detail::check_dtype("one_hot", "x", x, i64);
  if (classes < 1)
    throw ValueError(fmt::format("one_hot: classes is {}; at least 1 is needed", classes));
  detail::check_rank("one_hot", "x", x, x.dim() + 1);
  Shape shape = x.shape();
  shape.push_back(classes);
  shape.numel("one_hot");
  detail::check_index("one_hot", "x", x, classes, x.dim(), "the result", shape);
  const Tensor y = zeros(shape, i64);
  const Tensor packed = detail::packed(x);
  const int64_t* ids = packed.data<int64_t>();
  int64_t* rows = y.data<int64_t>();
  parallel_for(x.numel(), grain_for(1), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) rows[i * classes + ids[i]] = 1;
  });
  return unrecorded("one_hot", y, {x});
}

}  // namespace fovea
