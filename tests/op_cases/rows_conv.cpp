// Windows over images: convolution, pooling, sampling and resizing.
#include <algorithm>
#include <cmath>

#include "fovea/ops/ops.h"
#include "tests/op_cases/op_case.h"

namespace fovea::cases {
namespace {

// The element of image (b, c) at (i, j), 0 outside.
double pixel(const NaiveTensor& x, int64_t b, int64_t c, int64_t i, int64_t j) {
  const bool inside = i >= 0 && i < x.shape[2] && j >= 0 && j < x.shape[3];
  return inside ? x.at({b, c, i, j}) : 0;
}

NaiveTensor convolved(const NaiveTensors& in, const ConvOptions& o) {
  const NaiveTensor &x = in[0], &w = in[1];
  const auto size = [&](int d) {
    return (x.shape[2 + d] + 2 * o.padding[d] - o.dilation[d] * (w.shape[2 + d] - 1) - 1) /
               o.stride[d] +
           1;
  };
  const int64_t per_out = w.shape[0] / o.groups, per_in = w.shape[1];
  return build({x.shape[0], w.shape[0], size(0), size(1)}, [&](const Shape& i) {
    double y = in.size() > 2 ? in[2].at({i[1]}) : 0;
    each_index({per_in, w.shape[2], w.shape[3]}, [&](const Shape& k) {
      y += w.at({i[1], k[0], k[1], k[2]}) *
           pixel(x, i[0], i[1] / per_out * per_in + k[0],
                 i[2] * o.stride[0] - o.padding[0] + k[1] * o.dilation[0],
                 i[3] * o.stride[1] - o.padding[1] + k[2] * o.dilation[1]);
    });
    return y;
  });
}

// Every element of x spreads the kernel around its place.
NaiveTensor spread(const NaiveTensors& in, const ConvOptions& o) {
  const NaiveTensor &x = in[0], &w = in[1];
  const auto size = [&](int d) {
    return (x.shape[2 + d] - 1) * o.stride[d] - 2 * o.padding[d] +
           o.dilation[d] * (w.shape[2 + d] - 1) + o.output_padding[d] + 1;
  };
  const int64_t per_in = w.shape[0] / o.groups, per_out = w.shape[1];
  NaiveTensor y = build({x.shape[0], per_out * o.groups, size(0), size(1)},
                        [&](const Shape& i) { return in.size() > 2 ? in[2].at({i[1]}) : 0.0; });
  each_index(x.shape, [&](const Shape& i) {
    each_index({per_out, w.shape[2], w.shape[3]}, [&](const Shape& k) {
      const int64_t r = i[2] * o.stride[0] - o.padding[0] + k[1] * o.dilation[0];
      const int64_t c = i[3] * o.stride[1] - o.padding[1] + k[2] * o.dilation[1];
      if (r < 0 || c < 0 || r >= y.shape[2] || c >= y.shape[3]) return;
      y.at({i[0], i[1] / per_in * per_out + k[0], r, c}) +=
          x.at(i) * w.at({i[1], k[0], k[1], k[2]});
    });
  });
  return y;
}

struct Conv {
  const char* label;
  ConvOptions o;
  Shape x, weight;
  int64_t bias = 0;  // its size, 0 without
};

OpCase conv_case(const char* name, const Conv& c) {
  OpCase row;
  row.name = name;
  row.label = c.label;
  row.tolerance_f32 = 1e-5;
  row.inputs = {floats(c.x), floats(c.weight)};
  if (c.bias) row.inputs.push_back(floats({c.bias}));
  const int64_t g = c.o.groups;  // one pixel, one channel a group
  row.one = {{1, g, 1, 1}, {g, 1, 1, 1}, {g}};
  row.one.resize(row.inputs.size());
  const bool transposed = row.name == "conv_transpose2d";
  row.f = [o = c.o, transposed](const Tensors& x) {
    const Tensor bias = x.size() > 2 ? x[2] : Tensor();
    return transposed ? conv_transpose2d(x[0], x[1], bias, o) : conv2d(x[0], x[1], bias, o);
  };
  row.naive = [o = c.o, transposed](const NaiveTensors& x) {
    return transposed ? spread(x, o) : convolved(x, o);
  };
  return row;
}

void add_conv(std::vector<OpCase>& rows) {
  OpCase plain = conv_case("conv2d", {"", {}, {2, 3, 4, 5}, {2, 3, 3, 2}, 2});
  plain.zero = {{0, 3, 4, 5}, {2, 3, 3, 2}, {2}};
  plain.big = {{3, 4, 20, 21}, {8, 4, 3, 3}, {8}};
  plain.bad = {
      {{floats({2, 4, 5}), floats({2, 3, 3, 2}), floats({2})}, kShape, "conv2d: x"},
      {{floats({2, 2, 4, 5}), floats({2, 3, 3, 2}), floats({2})}, kShape, "conv2d: x"},
      {{floats({2, 3, 4, 5}), floats({2, 3, 3, 2}), floats({3})}, kShape, "conv2d: x"},
      {{floats({2, 3, 2, 5}), floats({2, 3, 3, 2}), floats({2})}, kShape, "smaller with padding"},
      {{integers({2, 3, 4, 5}, 0, 3), floats({2, 3, 3, 2}), floats({2})}, kDType, "conv2d: "},
      {{floats({2, 3, 4, 5}), floats({2, 3, 3, 2})},
       kDType,
       "conv2d: ",
       [](const Tensors& x) { return conv2d(x[0], to(x[1], f64)); }},
      {{floats({1, 1, 4, 5}), floats({2, 1, 3, 2})},
       kShape,
       "groups is 3",
       [](const Tensors& x) { return conv2d(x[0], x[1], {}, {.groups = 3}); }},
      {{floats({1, 1, 4, 5}), floats({2, 1, 3, 2})}, kValue, "stride is 0x1", [](const Tensors& x) {
         return conv2d(x[0], x[1], {}, {.stride = {0, 1}});
       }}};
  rows.push_back(std::move(plain));
  rows.push_back(conv_case("conv2d", {"pointwise", {}, {2, 3, 2, 2}, {4, 3, 1, 1}}));
  rows.push_back(
      conv_case("conv2d", {"stride_padding", {{2, 1}, {1, 2}}, {1, 2, 5, 4}, {3, 2, 3, 3}, 3}));
  rows.push_back(
      conv_case("conv2d", {"dilation", {{1, 2}, {0, 1}, {2, 1}}, {1, 2, 5, 4}, {2, 2, 2, 2}}));
  rows.push_back(
      conv_case("conv2d", {"groups", {{1, 1}, {1, 1}, {1, 1}, 2}, {2, 4, 3, 3}, {6, 2, 2, 2}, 6}));
  rows.push_back(
      conv_case("conv2d", {"depthwise", {{1, 1}, {0, 0}, {1, 1}, 3}, {1, 3, 4, 4}, {3, 1, 2, 3}}));

  OpCase line;
  line.name = "conv1d";
  line.tolerance_f32 = 1e-5;
  const ConvOptions o{{2, 1}, {1, 0}, {2, 1}, 2, {0, 0}};
  line.f = [o](const Tensors& x) { return conv1d(x[0], x[1], x[2], o); };
  line.inputs = {floats({2, 4, 7}), floats({2, 2, 3}), floats({2})};
  line.naive = [o](const NaiveTensors& x) {
    ConvOptions wide = o;
    wide.stride = {1, o.stride[0]}, wide.padding = {0, o.padding[0]};
    wide.dilation = {1, o.dilation[0]};
    const Shape a = x[0].shape, b = x[1].shape;
    NaiveTensor y = convolved(
        {reshape(x[0], {a[0], a[1], 1, a[2]}), reshape(x[1], {b[0], b[1], 1, b[2]}), x[2]}, wide);
    y.shape.erase(2);
    return y;
  };
  line.one = {{1, 4, 3}, {2, 2, 1}, {2}};
  line.zero = {{0, 4, 7}, {2, 2, 3}, {2}};
  line.big = {{40, 4, 500}, {8, 2, 5}, {8}};
  line.bad = {{{floats({4, 7}), floats({2, 2, 3}), floats({2})}, kShape, "conv1d: x"},
              {{floats({2, 4, 7}), floats({2, 2, 1, 3}), floats({2})}, kShape, "conv1d: x"},
              {{floats({2, 3, 7}), floats({2, 2, 3}), floats({2})}, kShape, "conv"}};
  OpCase bare = line;
  bare.label = "plain";
  bare.f = [](const Tensors& x) { return conv1d(x[0], x[1]); };
  bare.inputs = {floats({1, 2, 5}), floats({3, 2, 2})};
  bare.one = all_one(bare.inputs);
  bare.naive = [](const NaiveTensors& x) {
    const Shape a = x[0].shape, b = x[1].shape;
    NaiveTensor y =
        convolved({reshape(x[0], {a[0], a[1], 1, a[2]}), reshape(x[1], {b[0], b[1], 1, b[2]})}, {});
    y.shape.erase(2);
    return y;
  };
  bare.zero = bare.big = {};
  bare.bad = {};
  rows.push_back(std::move(line));
  rows.push_back(std::move(bare));

  OpCase up = conv_case("conv_transpose2d", {"", {}, {2, 3, 2, 3}, {3, 2, 3, 2}, 2});
  up.zero = {{0, 3, 2, 3}, {3, 2, 3, 2}, {2}};
  up.big = {{3, 4, 20, 21}, {4, 8, 3, 3}, {8}};
  up.bad = {
      {{floats({2, 2, 3}), floats({3, 2, 3, 2}), floats({2})}, kShape, "conv_transpose2d: x"},
      {{floats({2, 2, 2, 3}), floats({3, 2, 3, 2}), floats({2})}, kShape, "conv_transpose2d: x"},
      {{floats({2, 3, 2, 3}), floats({3, 2, 3, 2}), floats({3})}, kShape, "conv_transpose2d: x"},
      {{floats({1, 3, 2, 3}), floats({3, 2, 3, 2})},
       kShape,
       "output_padding is 1x0",
       [](const Tensors& x) {
         return conv_transpose2d(x[0], x[1], {}, {.output_padding = {1, 0}});
       }}};
  rows.push_back(std::move(up));
  rows.push_back(conv_case(
      "conv_transpose2d",
      {"stride_padding", {{2, 3}, {1, 0}, {1, 2}, 1, {1, 2}}, {1, 2, 3, 2}, {2, 3, 3, 2}, 3}));
  rows.back().one = {{1, 1, 1, 1}, {1, 1, 3, 2}, {1}};  // a smaller kernel leaves no pixel
  rows.push_back(conv_case("conv_transpose2d",
                           {"groups", {{1, 1}, {1, 1}, {1, 1}, 2}, {2, 4, 3, 3}, {4, 3, 2, 2}, 6}));
  rows.back().one = {{1, 2, 1, 1}, {2, 1, 3, 3}, {2}};
}

void add_pool(std::vector<OpCase>& rows, const char* name,
              Tensor (*f)(const Tensor&, const PoolOptions&), bool largest) {
  const auto pooled = [=](const char* label, const PoolOptions& o, const Shape& shape) {
    OpCase row;
    row.name = name;
    row.label = label;
    row.f = [f, o](const Tensors& x) { return f(x[0], o); };
    row.inputs = {floats(shape)};
    row.inputs[0].distinct = largest;
    row.naive = [o, largest](const NaiveTensors& x) {
      const auto step = [&](int d) { return o.stride[d] ? o.stride[d] : o.kernel[d]; };
      const auto size = [&](int d) {
        return (x[0].shape[2 + d] + 2 * o.padding[d] - o.kernel[d]) / step(d) + 1;
      };
      return build({x[0].shape[0], x[0].shape[1], size(0), size(1)}, [&](const Shape& i) {
        double top = -INFINITY, sum = 0;
        each_index({o.kernel[0], o.kernel[1]}, [&](const Shape& k) {
          const int64_t r = i[2] * step(0) - o.padding[0] + k[0];
          const int64_t c = i[3] * step(1) - o.padding[1] + k[1];
          sum += pixel(x[0], i[0], i[1], r, c);
          if (r < 0 || c < 0 || r >= x[0].shape[2] || c >= x[0].shape[3]) return;
          top = std::fmax(top, x[0].at({i[0], i[1], r, c}));
        });
        return largest ? top : sum / static_cast<double>(o.kernel[0] * o.kernel[1]);
      });
    };
    row.one = {{1, 1, o.padding[0] ? 1 : o.kernel[0], o.padding[1] ? 1 : o.kernel[1]}};
    row.big = {{16, 8, 33, 35}};
    return row;
  };
  OpCase plain = pooled("", {}, {2, 2, 4, 5});
  plain.zero = {{0, 2, 4, 5}};
  plain.bad = {{{floats({4, 5})}, kShape, name},
               {{floats({1, 1, 1, 5})}, kShape, "smaller with padding"},
               {{integers({1, 1, 4, 4}, 0, 3)}, kDType, name},
               {{floats({1, 1, 4, 4})}, kValue, "more than half", [f](const Tensors& x) {
                  return f(x[0], {.padding = {2, 0}});
                }}};
  rows.push_back(std::move(plain));
  rows.push_back(pooled("overlap", {{3, 2}, {1, 1}, {0, 0}}, {1, 2, 4, 4}));
  rows.push_back(pooled("padded", {{3, 2}, {2, 3}, {1, 1}}, {1, 2, 5, 4}));
}

double position(double g, int64_t n, bool corners) {
  return corners ? (g + 1) / 2 * static_cast<double>(n - 1)
                 : ((g + 1) * static_cast<double>(n) - 1) / 2;
}

void add_sample(std::vector<OpCase>& rows) {
  for (bool corners : {false, true}) {
    OpCase row;
    row.name = "grid_sample";
    row.label = corners ? "corners" : "";
    row.tolerance_f32 = 2e-5;
    row.f = [corners](const Tensors& x) { return grid_sample(x[0], x[1], corners); };
    // Pixel borders of a 4 x 4 image are kinks.
    const std::vector<double> borders =
        corners ? std::vector<double>{-1, -1.0 / 3, 1.0 / 3, 1}
                : std::vector<double>{-1.25, -0.75, -0.25, 0, 0.25, 0.75, 1.25};  // 0 of one pixel
    row.inputs = {floats({2, 3, 4, 4}), floats({2, 2, 5, 2}).range(-1.4, 1.4).away_from(borders)};
    row.naive = [corners](const NaiveTensors& x) {
      const Shape s = x[0].shape, g = x[1].shape;
      return build({s[0], s[1], g[1], g[2]}, [&](const Shape& i) {
        const double px = position(x[1].at({i[0], i[2], i[3], 0}), s[3], corners);
        const double py = position(x[1].at({i[0], i[2], i[3], 1}), s[2], corners);
        double y = 0;
        for (int64_t r = -3; r < s[2] + 3; ++r) {
          for (int64_t c = -3; c < s[3] + 3; ++c) {
            const double w = std::fmax(0, 1 - std::fabs(px - static_cast<double>(c))) *
                             std::fmax(0, 1 - std::fabs(py - static_cast<double>(r)));
            y += w * pixel(x[0], i[0], i[1], r, c);
          }
        }
        return y;
      });
    };
    row.one = {{1, 1, 1, 1}, {1, 1, 1, 2}};
    row.zero = {{0, 3, 4, 4}, {0, 2, 5, 2}};
    row.big = {{2, 3, 4, 4}, {2, 90, 40, 2}};
    if (!corners) {
      row.bad = {{{floats({3, 4, 4}), floats({2, 2, 5, 2})}, kShape, "grid_sample: x"},
                 {{floats({2, 3, 4, 4}), floats({2, 2, 5, 3})}, kShape, "grid_sample: x"},
                 {{floats({2, 3, 4, 4}), floats({1, 2, 5, 2})}, kShape, "grid_sample: x"},
                 {{floats({2, 3, 0, 4}), floats({2, 2, 5, 2})}, kShape, "grid_sample: x"},
                 {{integers({2, 3, 4, 4}, 0, 3), floats({2, 2, 5, 2})}, kDType, "grid_sample: x"}};
    }
    rows.push_back(std::move(row));

    const auto grid_of = [corners](int64_t h, int64_t w) {
      OpCase grid;
      grid.name = "affine_grid";
      grid.label = corners ? "corners" : "";
      grid.f = [=](const Tensors& x) { return affine_grid(x[0], h, w, corners); };
      grid.inputs = {floats({2, 2, 3})};
      grid.naive = [=](const NaiveTensors& x) {
        return build({x[0].shape[0], h, w, 2}, [&](const Shape& i) {
          const auto centre = [&](int64_t k, int64_t n) {
            const auto a = static_cast<double>(k), m = static_cast<double>(n);
            if (n == 1) return 0.0;
            return corners ? 2 * a / (m - 1) - 1 : (2 * a + 1) / m - 1;
          };
          return x[0].at({i[0], i[3], 0}) * centre(i[2], w) +
                 x[0].at({i[0], i[3], 1}) * centre(i[1], h) + x[0].at({i[0], i[3], 2});
        });
      };
      grid.one = {{1, 2, 3}};
      return grid;
    };
    OpCase lone = grid_of(1, 1);
    lone.label += corners ? "_one_pixel" : "one_pixel";
    rows.push_back(std::move(lone));
    OpCase grid = grid_of(3, 4);
    grid.zero = {{0, 2, 3}};
    grid.big = {{9000, 2, 3}};
    if (!corners) {
      grid.bad = {{{floats({2, 3})}, kShape, "affine_grid: theta"},
                  {{floats({2, 2, 3})}, kShape, "size 0x4", [](const Tensors& x) {
                     return affine_grid(x[0], 0, 4);
                   }}};
    }
    rows.push_back(std::move(grid));
  }
}

void add_interpolate(std::vector<OpCase>& rows) {
  struct Kind {
    const char* label;
    Interpolation mode;
    bool corners;
    int64_t h, w;
  };
  const auto bilinear = Interpolation::bilinear, nearest = Interpolation::nearest;
  for (const Kind k : {Kind{"", nearest, false, 5, 3}, Kind{"bilinear", bilinear, false, 5, 3},
                       Kind{"corners", bilinear, true, 5, 3}, Kind{"one", bilinear, true, 1, 1},
                       Kind{"double", bilinear, false, 6, 8}}) {
    OpCase row;
    row.name = "interpolate";
    row.label = k.label;
    row.f = [k](const Tensors& x) { return interpolate(x[0], k.h, k.w, k.mode, k.corners); };
    row.inputs = {floats({2, 2, 3, 4})};
    row.naive = [k](const NaiveTensors& x) {
      const Shape s = x[0].shape;
      // Weight of pixel p of n in place i of m.
      const auto weight = [&](int64_t i, int64_t m, int64_t p, int64_t n) {
        if (k.mode == Interpolation::nearest) return p == i * n / m ? 1.0 : 0.0;
        const auto a = static_cast<double>(i), mm = static_cast<double>(m),
                   nn = static_cast<double>(n);
        double at = (a + 0.5) * nn / mm - 0.5;
        if (k.corners) at = m > 1 ? a * (nn - 1) / (mm - 1) : 0;
        at = std::min(std::max(at, 0.0), nn - 1);
        return std::fmax(0, 1 - std::fabs(at - static_cast<double>(p)));
      };
      return build({s[0], s[1], k.h, k.w}, [&](const Shape& i) {
        double y = 0;
        each_index({s[2], s[3]}, [&](const Shape& p) {
          y += weight(i[2], k.h, p[0], s[2]) * weight(i[3], k.w, p[1], s[3]) *
               x[0].at({i[0], i[1], p[0], p[1]});
        });
        return y;
      });
    };
    row.one = {{1, 1, 1, 1}};
    row.zero = {{0, 2, 3, 4}};
    row.big = {{40, 30, 9, 8}};
    if (row.label.empty()) {
      row.bad = {{{floats({3, 4})}, kShape, "interpolate: x"},
                 {{floats({1, 1, 0, 4})}, kShape, "interpolate: x"},
                 {{floats({1, 1, 3, 4})},
                  kShape,
                  "size 0x2",
                  [](const Tensors& x) { return interpolate(x[0], 0, 2); }},
                 {{integers({1, 1, 3, 4}, 0, 3)}, kDType, "interpolate: x"}};
    }
    rows.push_back(std::move(row));
  }
}

}  // namespace

std::vector<OpCase> rows_conv() {
  std::vector<OpCase> rows;
  add_conv(rows);
  add_pool(rows, "max_pool2d", max_pool2d, true);
  add_pool(rows, "avg_pool2d", avg_pool2d, false);
  add_sample(rows);
  add_interpolate(rows);
  return rows;
}

}  // namespace fovea::cases
