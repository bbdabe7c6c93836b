// Views of a part of a tensor along one axis.
#include <algorithm>

#include "fovea/ops/ops.h"
#include "tests/op_cases/op_case.h"
#include "tests/properties/models.h"

namespace fovea::properties {
namespace {

struct Cut {
  Tensor x;
  int64_t axis;
  int d;      // the axis, from the front
  int64_t n;  // its size
};
Cut any_cut() {
  const Tensor x = anything(1);
  const int64_t axis = any_axis(x.dim());
  const int d = from_front(axis, x.dim());
  return {x, axis, d, x.shape()[d]};
}

// Elements start, start + step, ... of the axis, `length` of them.
Trial part(const Cut& c, const Function1& f, int64_t start, int64_t length, int64_t step = 1) {
  Shape shape = c.x.shape();
  shape[c.d] = length;
  return shows(f, c.x, shape,
               [=](Shape i) {
                 i[c.d] = start + i[c.d] * step;
                 return i;
               })
      .lies(Storage::shared);
}

Trial select_trial() {
  const Cut c = any_cut();
  assume(c.n > 0);
  const int64_t at = draw(0, c.n - 1), index = chance(2) ? at : at - c.n;
  Shape shape = c.x.shape();
  shape.erase(c.d);
  return shows([=](const Tensor& in) { return select(in, c.axis, index); }, c.x, shape,
               [=](Shape i) {
                 i.insert(c.d, at);
                 return i;
               })
      .lies(Storage::shared);
}

Trial slice_trial() {
  const Cut c = any_cut();
  const int64_t start = draw(-c.n - 2, c.n + 2), step = draw(1, 3);
  const int64_t end = chance(4) ? kEnd : draw(-c.n - 2, c.n + 2);
  const auto clip = [&](int64_t i) { return std::clamp(i < 0 ? i + c.n : i, int64_t{0}, c.n); };
  int64_t length = 0;
  for (int64_t i = clip(start); i < clip(end); i += step) ++length;
  return part(
      c, [=](const Tensor& in) { return slice(in, c.axis, start, end, step); }, clip(start), length,
      step);
}

Trial narrow_trial() {
  const Cut c = any_cut();
  const int64_t first = draw(0, c.n), length = draw(0, c.n - first);
  const int64_t start = first < c.n && chance(2) ? first - c.n : first;
  return part(
      c, [=](const Tensor& in) { return narrow(in, c.axis, start, length); }, first, length);
}

// The axis cut into pieces of these sizes, one after the other; whole axes go when unbound.
Trial pieces(const Cut& c, const std::function<Tensors(const Tensor&)>& f,
             const std::vector<int64_t>& sizes, bool unbound = false) {
  return rearranged([=](const Tensors& in) { return f(in[0]); }, {c.x},
                    [&](const NaiveTensors& n) {
                      NaiveTensors out;
                      int64_t start = 0;
                      for (int64_t size : sizes) {
                        Shape shape = c.x.shape();
                        shape[c.d] = size;
                        out.push_back(cases::build(shape, [&](Shape i) {
                          i[c.d] += start;
                          return n[0].at(i);
                        }));
                        if (unbound) out.back().shape.erase(c.d);
                        start += size;
                      }
                      return out;
                    })
      .lies(Storage::shared);
}

std::vector<int64_t> even_sizes(int64_t n, int64_t size) {
  std::vector<int64_t> sizes{std::min(n, size)};
  for (int64_t at = size; at < n; at += size) sizes.push_back(std::min(size, n - at));
  return sizes;
}

Trial split_trial() {
  const Cut c = any_cut();
  if (chance(2)) {
    const int64_t size = draw(1, 5);
    return pieces(
        c, [=](const Tensor& in) { return split(in, size, c.axis); }, even_sizes(c.n, size));
  }
  std::vector<int64_t> sizes;
  int64_t left = c.n;
  for (int64_t parts = draw(0, 3); parts > 0; --parts) {
    sizes.push_back(draw(0, left));
    left -= sizes.back();
  }
  sizes.push_back(left);
  return pieces(
      c, [=](const Tensor& in) { return split(in, sizes, c.axis); }, sizes);
}

Trial chunk_trial() {
  const Cut c = any_cut();
  const int64_t chunks = draw(1, 5);
  return pieces(
      c, [=](const Tensor& in) { return chunk(in, chunks, c.axis); },
      even_sizes(c.n, std::max<int64_t>(1, (c.n + chunks - 1) / chunks)));
}

Trial unbind_trial() {
  const Cut c = any_cut();
  return pieces(
      c, [=](const Tensor& in) { return unbind(in, c.axis); },
      std::vector<int64_t>(static_cast<size_t>(c.n), 1), true);
}

}  // namespace

Properties part_properties() {
  return {{"select", select_trial}, {"slice", slice_trial}, {"narrow", narrow_trial},
          {"split", split_trial},   {"chunk", chunk_trial}, {"unbind", unbind_trial}};
}

}  // namespace fovea::properties
