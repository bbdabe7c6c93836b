// Normalisation of rows far from zero, of constant rows, and of rows whose squares overflow; and
// products whose parts leave the range of numbers.
#include <functional>

#include "tests/cases/near.h"

namespace fovea {
namespace {

using testing::expect_near;
using testing::gradients;
using testing::kInf;
using testing::kWays;
using testing::leaf_of;
using testing::List;
using testing::Way;

// Each normalises the four numbers of a row.
struct Norm {
  const char* name;
  std::function<Tensor(const Tensor&)> f;
};
const Norm kCentred[] = {
    {"layer_norm", [](const Tensor& x) { return layer_norm(x); }},
    {"group_norm",
     [](const Tensor& x) {
       return reshape(group_norm(reshape(x, {1, 1, x.numel()}), 1), x.shape());
     }},
    {"group_norm of channels",
     [](const Tensor& x) {
       return reshape(group_norm(reshape(x, {1, x.numel()}), 1), x.shape());
     }},
    {"batch_norm",
     [](const Tensor& x) {
       return reshape(batch_norm(reshape(x, {x.numel(), 1}), {}, {}), x.shape());
     }},
    {"batch_norm of images",
     [](const Tensor& x) {
       return reshape(batch_norm(reshape(x, {2, 1, x.numel() / 2, 1}), {}, {}), x.shape());
     }},
};

TEST(Cases, NormalisationOfRowsFarFromZero) {
  for (const Norm& norm : kCentred) {
    for (DType t : {f32, f64}) {
      for (double origin : {40000.0, 8388608.0, -16000000.0}) {  // the last: whole numbers of f32
        for (const Way way : kWays) {
          SCOPED_TRACE(std::string(norm.name) + " at " + std::to_string(origin) + ", " + name(way));
          const Tensor x = (tensor({0.0, 1.0, 2.0, 3.0}, t) + origin).detach().requires_grad_();
          const Tensor y = norm.f(x);
          expect_near(y, {-1.34164, -.44721, .44721, 1.34164}, 1e-5);
          const Tensor near = tensor({0.0, 1.0, 2.0, 3.0}, t).requires_grad_();
          const Tensor up = tensor({1.0, -2.0, 3.0, 5.0}, t);
          const Tensor want = grad(norm.f(near), {near}, {.upstream = up})[0];
          expect_near(gradients(y, {x}, way, up)[0], want.to_vector(), 1e-5);
        }
      }
    }
  }
}

TEST(Cases, NormalisationOfConstantRows) {
  for (const Norm& norm : kCentred) {
    for (DType t : {f32, f64}) {
      for (double v : {1234.0, .1, 0.0, -1e6 / 3}) {
        for (const Way way : kWays) {
          SCOPED_TRACE(std::string(norm.name) + " of " + std::to_string(v) + ", " + name(way));
          const Tensor x = full({256}, v, t).requires_grad_();
          const Tensor y = norm.f(x);
          expect_near(y, List(256, 0), 0);
          EXPECT_TRUE(all(isfinite(gradients(y, {x}, way, randn({256}, t))[0])));
        }
      }
    }
  }
}

TEST(Cases, RmsNormOfSmallLargeAndConstantRows) {
  for (DType t : {f32, f64}) {
    const double far = t == f32 ? 1e20 : 1e200, last = t == f32 ? 1e36 : 1e306;
    for (const Way way : kWays) {
      const double r = 1 / std::sqrt(2.5);  // of [1, 2, -2, 1], whatever its scale
      for (double scale : {1.0, 1e10, far, last}) {
        SCOPED_TRACE(scale);
        const Tensor x = (tensor({1.0, 2.0, -2.0, 1.0}, t) * (scale / 2)).detach().requires_grad_();
        const Tensor w = leaf_of({1.0, 2.0, 3.0, 4.0}, t);
        const Tensor y = rms_norm(x, w);
        expect_near(y, {r, 4 * r, -6 * r, 4 * r}, 5e-6);
        const Tensor near = leaf_of({1.0, 2.0, -2.0, 1.0}, f64);
        const Tensor up = tensor({1.0, -2.0, 3.0, 5.0}, t);
        const Tensors want =
            grad(rms_norm(near, to(w.detach(), f64), 0), {near}, {.upstream = to(up, f64)});
        const Tensors g = gradients(y, {x, w}, way, up);
        expect_near(g[0] * (scale / 2), want[0].to_vector(), 2e-5, name(way));
        expect_near(g[1], {r, -4 * r, -6 * r, 5 * r}, 1e-5, name(way));
      }
      const Tensor x = stack({full({4}, 1234, t), zeros({4}, t), full({4}, far, t),
                              tensor({40000.0, 40001.0, 40002.0, 40003.0}, t)})
                           .detach()
                           .requires_grad_();
      const Tensor y = rms_norm(x);
      expect_near(y, {1, 1, 1, 1, 0, 0, 0, 0, 1, 1, 1, 1, .99996, .99999, 1.00001, 1.00004}, 2e-5);
      EXPECT_TRUE(all(isfinite(gradients(y, {x}, way, ones({4, 4}, t))[0])));
    }
    // What is not finite stays so, in its row alone.
    const Tensor bad = rms_norm(tensor({{kInf, 1.0}, {3.0, 3.0}}, t));
    EXPECT_TRUE(std::isnan(bad.at({0, 0})));
    expect_near(bad[1], {1, 1}, 1e-6);
  }
}

// Partial products that vanish, overflow or are infinite, where the gradient is a number.
TEST(Cases, ProductsOutOfRange) {
  const double least = 1e-30, most = 1e30;
  for (const Way way : kWays) {
    SCOPED_TRACE(name(way));
    const auto slope = [&](const Values& v, DType t, const Values& up) {
      const Tensor x = leaf_of(v, t);
      return gradients(cumprod(x, 0), {x}, way, tensor(up, t))[0];
    };
    const auto near = [](const Tensor& g, const List& want) {
      for (size_t i = 0; i < want.size(); ++i) {
        const double got = g.at({static_cast<int64_t>(i)});
        EXPECT_TRUE(got == want[i] || std::fabs(got - want[i]) <= 1e-6 * std::fabs(want[i]))
            << "element " << i << ": " << got << ", want " << want[i];
      }
    };
    // y = (a, a b): with a = b = 1e-30 the last is 0 in f32, its slopes are not.
    near(slope({least, least}, f32, {0.0, 1.0}), {least, least});
    near(slope({most, most}, f32, {0.0, 1.0}), {most, most});
    near(slope({1e-200, 1e-200}, f64, {0.0, 1.0}), {1e-200, 1e-200});
    near(slope({1e200, 1e200}, f64, {0.0, 1.0}), {1e200, 1e200});
    near(slope({2.0, kInf, 3.0}, f64, {1.0, 1.0, 0.0}), {kInf, 2, 0});
    near(slope({0.0, 0.0, 3.0}, f32, {1.0, 1.0, 1.0}), {1, 0, 0});
  }
  for (const Way way : kWays) {  // of one product alike
    const auto slope = [&](const Values& v, DType t) {
      const Tensor x = leaf_of(v, t);
      return gradients(prod(x), {x}, way)[0];
    };
    EXPECT_FALSE(any(isnan(slope({most, most, 1e-20, 0.0}, f32)))) << name(way);
    EXPECT_FALSE(any(isnan(slope({1e200, 1e200, 2.0, 0.0}, f64)))) << name(way);
    expect_near(slope({0.0, 2.0, 3.0}, f64), {6, 0, 0}, 0, name(way));
  }
  // The fused rules multiply floats in double, out of their range and back.
  const Tensor out = leaf_of({most, most, least, least, 2.0}, f32);
  expect_near(grad(prod(out), {out})[0] * out.detach(), List(5, 2), 1e-5);
  const Tensor x = leaf_of({least, least, most, most, 2.0}, f32);
  expect_near(
      grad(cumprod(x, 0), {x}, {.upstream = tensor({0.0, 0.0, 0.0, 0.0, 1.0})})[0] * x.detach(),
      List(5, 2), 1e-5);
}

}  // namespace
}  // namespace fovea
