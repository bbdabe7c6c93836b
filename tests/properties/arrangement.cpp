// Results that show elements of the inputs in another arrangement: joined, mirrored, repeated,
// padded, masked.
#include <algorithm>
#include <numeric>

#include "fovea/ops/ops.h"
#include "tests/op_cases/op_case.h"
#include "tests/properties/models.h"

namespace fovea::properties {
namespace {

using cases::build;

// Parts side by side along the axis.
NaiveTensor joined(const NaiveTensors& xs, int axis) {
  Shape out = xs[0].shape;
  out[axis] = 0;
  for (const NaiveTensor& x : xs) out[axis] += x.shape[axis];
  return build(out, [&](Shape i) {
    size_t k = 0;
    while (i[axis] >= xs[k].shape[axis]) i[axis] -= xs[k++].shape[axis];
    return xs[k].at(i);
  });
}

Trial cat_trial() {
  const Shape shape = any_shape(1);
  const int64_t axis = any_axis(shape.rank());
  const int d = from_front(axis, shape.rank());
  Tensors xs;
  for (int64_t parts = draw(1, 3); parts > 0; --parts) {
    Shape own = shape;
    own[d] = draw(0, 3);
    xs.push_back(any_numbers(own));
  }
  return rearranged([=](const Tensors& in) { return Tensors{cat(in, axis)}; }, xs,
                    [&](const NaiveTensors& n) { return NaiveTensors{joined(n, d)}; });
}

Trial stack_trial() {
  const Shape shape = any_shape(0, 3);
  const int64_t axis = any_axis(shape.rank() + 1);
  Tensors xs;
  for (int64_t parts = draw(1, 3); parts > 0; --parts) xs.push_back(any_numbers(shape));
  return rearranged([=](const Tensors& in) { return Tensors{stack(in, axis)}; }, xs,
                    [&](NaiveTensors n) {
                      const int d = from_front(axis, shape.rank() + 1);
                      for (NaiveTensor& x : n) x.shape.insert(d, 1);
                      return NaiveTensors{joined(n, d)};
                    });
}

Trial flip_trial() {
  const Tensor x = any_numbers(any_shape());
  const auto axes = any_axes(x.dim());
  std::vector<bool> turned(static_cast<size_t>(x.dim()), axes.empty());
  for (int64_t a : axes) turned[static_cast<size_t>(from_front(a, x.dim()))] = true;
  return shows([=](const Tensor& in) { return flip(in, Axes(axes)); }, x, x.shape(),
               [&](Shape i) {
                 for (int d = 0; d < i.rank(); ++d) {
                   if (turned[static_cast<size_t>(d)]) i[d] = x.shape()[d] - 1 - i[d];
                 }
                 return i;
               });
}

Trial repeat_trial() {
  const Tensor x = any_numbers(any_shape(0, 3));
  Shape tile = x.shape(), times;
  for (int64_t more = draw(0, 1); more > 0; --more) tile.insert(0, 1);
  Shape out = tile;
  for (int64_t& n : out) {
    times.push_back(chance(12) ? 0 : draw(1, 3));
    n *= times.back();
  }
  return shows([=](const Tensor& in) { return repeat(in, times); }, x, out,
               [&](Shape i) {
                 for (int d = 0; d < i.rank(); ++d) i[d] %= tile[d];
                 return i;
               });
}

Trial repeat_interleave_trial() {
  const Tensor x = any_numbers(any_shape());
  const int64_t axis = any_axis(x.dim()), times = chance(12) ? 0 : draw(1, 3);
  Shape out = x.dim() == 0 ? Shape{1} : x.shape();
  const int d = from_front(axis, out.rank());
  out[d] *= times;
  return shows([=](const Tensor& in) { return repeat_interleave(in, times, axis); }, x, out,
               [=](Shape i) {
                 i[d] /= times;
                 return i;
               });
}

Trial roll_trial() {
  const Tensor x = any_numbers(any_shape());
  const int64_t axis = any_axis(x.dim()), shift = draw(-9, 9);
  const int d = from_front(axis, x.dim());
  return shows([=](const Tensor& in) { return roll(in, shift, axis); }, x, x.shape(),
               [&](Shape i) {
                 if (i.empty()) return i;
                 const int64_t n = x.shape()[d];
                 i[d] = ((i[d] - shift) % n + n) % n;
                 return i;
               });
}

Trial pad_trial() {
  const Tensor x = any_numbers(any_shape());
  Shape out = x.shape(), before = Shape::filled(x.dim(), 0);
  std::vector<int64_t> widths;
  for (int d = x.dim() - 1; d >= 0 && !chance(4); --d) {
    const int64_t n = x.shape()[d];
    before[d] = draw(-std::min<int64_t>(n, 2), 2);
    const int64_t after = draw(-std::min<int64_t>(n + std::min<int64_t>(before[d], 0), 2), 2);
    widths.push_back(before[d]);
    widths.push_back(after);
    out[d] += before[d] + after;
  }
  const auto value = static_cast<double>(draw(-3, 3));
  return rearranged([=](const Tensors& in) { return Tensors{pad(in[0], widths, value)}; }, {x},
                    [&](const NaiveTensors& n) {
                      return NaiveTensors{build(out, [&](Shape i) {
                        for (int d = 0; d < i.rank(); ++d) {
                          i[d] -= before[d];
                          if (i[d] < 0 || i[d] >= x.shape()[d]) return kConstant;
                        }
                        return n[0].at(i);
                      })};
                    },
                    value);
}

Trial unfold_trial() {
  const Tensor x = any_numbers(any_shape(1));
  const int64_t axis = any_axis(x.dim());
  const int d = from_front(axis, x.dim());
  const int64_t n = x.shape()[d];
  assume(n > 0);
  const int64_t size = draw(1, n), step = draw(1, 3);
  Shape out = x.shape();
  out[d] = (n - size) / step + 1;
  out.push_back(size);
  return shows([=](const Tensor& in) { return unfold(in, axis, size, step); }, x, out,
               [=](Shape i) {
                 i[d] = i[d] * step + i.back();
                 i.erase(i.rank() - 1);
                 return i;
               });
}

Trial diag_trial() {
  const int64_t k = draw(-3, 3);
  const Function1 f = [k](const Tensor& in) { return diag(in, k); };
  const int64_t down = std::max<int64_t>(0, -k), right = std::max<int64_t>(0, k);
  if (chance(2)) {
    const Tensor x = any_numbers({draw(0, 5)});
    const int64_t n = x.numel() + down + right;
    return rearranged([f](const Tensors& in) { return Tensors{f(in[0])}; }, {x},
                      [&](const NaiveTensors& v) {
                        return NaiveTensors{build({n, n}, [&](const Shape& i) {
                          return i[1] - i[0] == k ? v[0].at({std::min(i[0], i[1])}) : kConstant;
                        })};
                      });
  }
  const Tensor x = any_numbers({draw(0, 5), draw(0, 5)});
  const int64_t n = std::max<int64_t>(0, std::min(x.size(0) - down, x.size(1) - right));
  return shows(f, x, {n}, [=](const Shape& i) { return Shape{i[0] + down, i[0] + right}; });
}

Trial triangle_trial(bool lower) {
  const Tensor x = any_numbers(any_shape(2));
  const int64_t k = draw(-3, 3);
  return rearranged(
      [=](const Tensors& in) { return Tensors{lower ? tril(in[0], k) : triu(in[0], k)}; }, {x},
      [&](const NaiveTensors& n) {
        return NaiveTensors{build(x.shape(), [&](const Shape& i) {
          const int64_t off = i[i.rank() - 1] - i[i.rank() - 2];
          return (lower ? off <= k : off >= k) ? n[0].at(i) : kConstant;
        })};
      });
}

Trial meshgrid_trial() {
  const DType t = any_number();
  Tensors xs;
  Shape out;
  for (int64_t parts = draw(1, 4); parts > 0; --parts) {
    xs.push_back(any_tensor(chance(4) ? Shape{} : Shape{draw(0, 4)}, {}, t));
    out.push_back(xs.back().numel());
  }
  return rearranged([](const Tensors& in) { return meshgrid(in); }, xs,
                    [&](const NaiveTensors& n) {
                      NaiveTensors grids;
                      for (int k = 0; k < out.rank(); ++k) {
                        grids.push_back(build(out, [&](const Shape& i) {
                          const NaiveTensor& line = n[static_cast<size_t>(k)];
                          return line.data[static_cast<size_t>(i[k])];
                        }));
                      }
                      return grids;
                    });
}

}  // namespace

Properties arrangement_properties() {
  return {{"cat", cat_trial},
          {"stack", stack_trial},
          {"flip", flip_trial},
          {"repeat", repeat_trial},
          {"repeat_interleave", repeat_interleave_trial},
          {"roll", roll_trial},
          {"pad", pad_trial},
          {"unfold", unfold_trial},
          {"diag", diag_trial},
          {"tril", [] { return triangle_trial(true); }},
          {"triu", [] { return triangle_trial(false); }},
          {"meshgrid", meshgrid_trial}};
}

}  // namespace fovea::properties
