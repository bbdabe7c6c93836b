// What is drawn with the smallest and the largest number that a generator can give, injected where
// random bits become a number and a number becomes a sample; and what ten million draws look like.
#include "fovea/core/error.h"
#include "fovea/ops/kernels/random.h"
#include "fovea/ops/sampling.h"
#include "tests/cases/near.h"

namespace fovea {
namespace {

using testing::expect_near;
using testing::kInf;
using testing::kNan;
using testing::List;

constexpr double kMostF32 = 1 - 0x1p-24, kMostF64 = 1 - 0x1p-53;

// How kernels/random.h turns the bits of an element into a number in the open interval.
double open_f64(uint64_t bits) { return (static_cast<double>(bits >> 12) + .5) * 0x1p-52; }
float open_f32(uint32_t bits) { return (static_cast<float>(bits >> 9) + .5F) * 0x1p-23F; }

TEST(Cases, NoBitsGiveZeroOrOneInTheOpenInterval) {
  const int64_t n = 4096;
  std::vector<uint64_t> bits(n);
  std::vector<double> d(n);
  std::vector<float> f(2 * n);
  kernels::fill_bits64(bits.data(), 0, n, 3, 4);
  kernels::fill_uniform_open(d.data(), 0, n, 3, 4);
  kernels::fill_uniform_open(f.data(), 0, 2 * n, 3, 4);
  for (size_t i = 0; i < bits.size(); ++i) {
    ASSERT_EQ(d[i], open_f64(bits[i])) << i;
    ASSERT_EQ(f[2 * i], open_f32(static_cast<uint32_t>(bits[i]))) << i;
    ASSERT_EQ(f[2 * i + 1], open_f32(static_cast<uint32_t>(bits[i] >> 32))) << i;
  }
  EXPECT_EQ(open_f64(0), 0x1p-53);
  EXPECT_EQ(open_f64(~uint64_t{0}), 1 - 0x1p-53);
  EXPECT_EQ(open_f32(0), 0x1p-24F);
  EXPECT_EQ(open_f32(~uint32_t{0}), 1 - 0x1p-24F);
}

TEST(Cases, GumbelNoiseOfZeroAndOne) {
  const Tensor u = tensor({0.0, 0x1p-54, 0x1p-53, 0x1p-24, .5, kMostF32, kMostF64, 1.0}, f64);
  const Tensor noise = detail::gumbel_noise(u);
  EXPECT_TRUE(all(isfinite(noise))) << noise.str();
  EXPECT_TRUE(all(noise.narrow(0, 0, 7) <= noise.narrow(0, 1, 7))) << noise.str();
  EXPECT_NEAR(noise.at({4}), -std::log(std::log(2.0)), 1e-15);
  EXPECT_TRUE(all(isfinite(detail::gumbel_noise(to(u, f32)))));
  for (DType t : {f32, f64}) {
    for (double tau : {1e-3, 1.0, 1e3}) {
      for (bool hard : {false, true}) {
        const Tensor x = zeros({8}, t).requires_grad_();
        const Tensor y = gumbel_softmax(x, to(noise, t), tau, hard);
        EXPECT_TRUE(all(isfinite(y)));
        EXPECT_NEAR(sum(y).item(), 1, 1e-6);
        EXPECT_TRUE(all(isfinite(grad(sum(square(y)), {x})[0])));
      }
    }
  }
}

// Mean 0.5772 (Euler's constant), variance pi^2 / 6, fourth moment 3 + 12 / 5 of its square.
TEST(Cases, TenMillionGumbelDraws) {
  Generator g(20);
  const int64_t rounds = 10, each = 1000000;
  double m1 = 0, m2 = 0;
  for (int64_t i = 0; i < rounds; ++i) {
    const Tensor noise = detail::gumbel_noise(rand({each}, f64, &g));
    ASSERT_TRUE(all(isfinite(noise)));
    m1 += mean(noise).item() / rounds;
    m2 += mean(square(noise)).item() / rounds;
  }
  const double variance = M_PI * M_PI / 6, n = static_cast<double>(rounds * each);
  EXPECT_NEAR(m1, .57721566490153286, 5 * std::sqrt(variance / n));
  EXPECT_NEAR(m2 - m1 * m1, variance, 5 * variance * std::sqrt(4.4 / n));
}

// The class of u among weights, as multinomial picks it.
int64_t class_of(List weights, double u) {
  for (size_t i = 1; i < weights.size(); ++i) weights[i] += weights[i - 1];
  return detail::pick_category(weights.data(), static_cast<int64_t>(weights.size()), u);
}

TEST(Cases, EndsOfTheUniformNumberPickPossibleClasses) {
  for (double u : {0.0, 0x1p-53, kMostF32, kMostF64}) {
    SCOPED_TRACE(u);
    const bool low = u < .5;
    EXPECT_EQ(class_of({0, 1}, u), 1);
    EXPECT_EQ(class_of({1, 0}, u), 0);
    EXPECT_EQ(class_of({0, 0, 3, 0, 0}, u), 2);
    EXPECT_EQ(class_of({.33, .34, 0, .33}, u), low ? 0 : 3);
    EXPECT_EQ(class_of({0, .1, .1, .1, .1, .1, .1, .1, 0}, u), low ? 1 : 7);
    EXPECT_EQ(class_of({.2, .2, .2, .2, .2}, u), low ? 0 : 4);
    EXPECT_EQ(class_of({1e-300, 1e300, 1e-300}, u), u == 0 ? 0 : 1);
  }
  // On the border the class above begins; one without weight is passed over.
  EXPECT_EQ(class_of({1, 0, 1}, .5), 2);
  EXPECT_EQ(class_of({1, 1, 2}, .25), 1);
}

TEST(Cases, TenMillionMultinomialDraws) {
  Generator g(21);
  const double n = 1e7;
  const Tensor x = multinomial(tensor({.33, .34, 0.0, .33}, f32), 10000000, true, &g);
  const double want[] = {.33, .34, 0, .33};
  for (int k = 0; k < 4; ++k) {
    const double p = want[k];
    EXPECT_NEAR(sum(x == k).item() / n, p, 5 * std::sqrt(p * (1 - p) / n)) << k;
  }
  EXPECT_TRUE(all(x >= 0) && all(x < 4));
}

// The errors, with and without replacement, in one row of several, which the message names.
TEST(Cases, MultinomialRefusesWhatIsNoWeight) {
  for (DType t : {f32, f64}) {
    for (bool replacement : {false, true}) {
      for (const Values& bad : {Values{0.0, 0.0}, Values{-.1, 1.1}, Values{kNan, 1.0},
                                Values{kInf, 1.0}, Values{1.0, -kInf}}) {
        const Tensor rows = stack({tensor({1.0, 1.0}, t), tensor(bad, t)});
        try {
          (void)multinomial(rows, 1, replacement);
          ADD_FAILURE() << "drew from " << rows.str();
        } catch (const ValueError& e) {
          EXPECT_NE(std::string(e.what()).find("row 1"), std::string::npos) << e.what();
        }
      }
    }
    EXPECT_EQ(multinomial(softmax(full({5}, 1000, t)), 5).numel(), 5);
  }
}

}  // namespace
}  // namespace fovea
