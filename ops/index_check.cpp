#include <fmt/format.h>

#include "fovea/ops/index.h"

namespace fovea {

void detail::check_index(const char* op, const char* arg, const Tensor& index, int64_t n, int axis,
                         const char* of, const Shape& sizes) {
  // An expanded index shows each number many times: one look is enough.
  Shape shape = index.shape();
  for (int d = 0; d < index.dim(); ++d) {
    if (index.strides()[d] == 0 && shape[d] > 0) shape[d] = 1;
  }
  const Tensor all = packed(index.alias(shape, index.strides()));
  const int64_t* ids = all.data<int64_t>();
  parallel_for(all.numel(), grain_for(1), [&](int64_t begin, int64_t end) {
    bool good = true;
    for (int64_t i = begin; i < end; ++i) good &= ids[i] >= 0 && ids[i] < n;
    for (int64_t i = begin; i < end && !good; ++i) {
      if (ids[i] >= 0 && ids[i] < n) continue;
      Shape at = shape;
      int64_t rest = i;
      for (int d = at.rank() - 1; d >= 0; --d) {
        at[d] = rest % shape[d];
        rest /= shape[d];
      }
      throw IndexError(
          fmt::format("{}: {} is {} at {}, axis {} of {} {} has size {}; {}", op, arg, ids[i],
                      at.str(), axis, of, sizes.str(), n,
                      n > 0 ? fmt::format("use 0 to {}", n - 1) : "nothing can be picked from it"));
    }
  });
}

}  // namespace fovea
