#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "fovea/core/philox.h"
#include "fovea/ops/kernels/random.h"
#include "ops/kernels_targets.h"

namespace {

namespace k = fovea::kernels;
using fovea::testing::on_every_target;

using Words = std::array<uint32_t, 4>;

// From the authors' Random123 distribution, kat_vectors.
static_assert(fovea::philox4x32({0, 0, 0, 0}, {0, 0}) ==
              Words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
static_assert(fovea::philox4x32({~0u, ~0u, ~0u, ~0u}, {~0u, ~0u}) ==
              Words{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
static_assert(fovea::philox4x32({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
                                {0xa4093822, 0x299f31d0}) ==
              Words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});

constexpr uint64_t kSeed = 0x299f31d0a4093822, kStream = 0x0370734413198a2e;

TEST(KernelsRandom, VectorsGiveTheWordsOfPhilox) {
  on_every_target([] {
    // Block numbers beyond 32 bits too.
    for (int64_t begin : {int64_t{0}, int64_t{0x243f6a88} * 2, (int64_t{1} << 34) - 500}) {
      std::vector<uint64_t> bits(1300);
      k::fill_bits64(bits.data(), begin, 1300, kSeed, kStream);
      for (int64_t i = 0; i < 1300; ++i) {
        const int64_t e = begin + i;
        const auto block = fovea::philox_block(kSeed, kStream, static_cast<uint64_t>(e / 2));
        const uint64_t right = block[e % 2 * 2] | uint64_t{block[e % 2 * 2 + 1]} << 32;
        ASSERT_EQ(bits[i], right) << begin << " + " << i;
      }
    }
  });
}

// fill(out, begin, n): all at once against pieces cut anywhere, bit for bit.
template <class T, class Fill>
void check_pieces(Fill fill) {
  constexpr int64_t kCount = 3000;
  std::vector<T> whole(kCount), parts(kCount, T(7));
  fill(whole.data(), 0, kCount);
  const std::vector<int64_t> cuts{0, 1, 2, 5, 6, 13, 64, 131, 1024, 1027, 2050, 2999, kCount};
  for (size_t c = 0; c + 1 < cuts.size(); ++c) {
    fill(parts.data() + cuts[c], cuts[c], cuts[c + 1] - cuts[c]);
  }
  EXPECT_EQ(std::memcmp(whole.data(), parts.data(), kCount * sizeof(T)), 0);
  fill(whole.data(), 5, 0);  // nothing
  for (int64_t n = 1; n <= 70; ++n) {
    std::vector<T> some(n + 1, T(7));
    fill(some.data(), 3, n);
    EXPECT_EQ(std::memcmp(some.data(), parts.data() + 3, n * sizeof(T)), 0) << n;
    EXPECT_EQ(some[n], T(7)) << n;
  }
}

template <class T>
void check_all_pieces() {
  check_pieces<T>([](T* p, int64_t b, int64_t n) { k::fill_uniform(p, b, n, 1, 2, T(-1), T(3)); });
  check_pieces<T>([](T* p, int64_t b, int64_t n) { k::fill_uniform_open(p, b, n, 1, 2); });
  check_pieces<T>([](T* p, int64_t b, int64_t n) { k::fill_normal(p, b, n, 1, 2, T(1), T(2)); });
  const std::vector<T> ones(4000, T(1));
  check_pieces<T>([&](T* p, int64_t b, int64_t n) { k::dropout(ones.data(), p, b, n, 0.3, 1, 2); });
}

TEST(KernelsRandom, PiecesGiveTheBitsOfTheWhole) {
  on_every_target([] {
    check_all_pieces<float>();
    check_all_pieces<double>();
    check_pieces<uint64_t>(
        [](uint64_t* p, int64_t b, int64_t n) { k::fill_bits64(p, b, n, 1, 2); });
    check_pieces<uint8_t>(
        [](uint8_t* p, int64_t b, int64_t n) { k::fill_bernoulli(p, b, n, 1, 2, 0.3); });
    check_pieces<int64_t>(
        [](int64_t* p, int64_t b, int64_t n) { k::fill_integers(p, b, n, 1, 2, -5, 6); });
  });
}

// The bits a target gives, appended to `all`; every target must give the first one's.
template <class Fill>
void same_on_every_target(Fill fill) {
  std::vector<unsigned char> first;
  on_every_target([&] {
    const std::vector<unsigned char> bytes = fill();
    if (first.empty()) first = bytes;
    EXPECT_TRUE(first == bytes);
  });
}

template <class T>
std::vector<unsigned char> bytes_of(const std::vector<T>& v) {
  std::vector<unsigned char> bytes(v.size() * sizeof(T));
  std::memcpy(bytes.data(), v.data(), bytes.size());
  return bytes;
}

template <class T>
void check_targets_agree() {
  std::vector<T> v(5000);
  same_on_every_target([&] {
    k::fill_uniform(v.data(), 3, 5000, 11, 12, T(-0.3), T(1.4));
    return bytes_of(v);
  });
  same_on_every_target([&] {
    k::fill_uniform_open(v.data(), 3, 5000, 11, 12);
    return bytes_of(v);
  });
  std::vector<T> x(5000, T(1.1));
  same_on_every_target([&] {
    k::dropout(x.data(), v.data(), 3, 5000, 0.1, 11, 12);
    return bytes_of(v);
  });
}

TEST(KernelsRandom, UniformBitsAreTheSameOnEveryInstructionSet) {
  check_targets_agree<float>();
  check_targets_agree<double>();
}

TEST(KernelsRandom, UniformIsTheTopBitsOfItsWords) {
  on_every_target([] {
    std::vector<uint64_t> bits(1000);
    std::vector<float> f(2000);
    std::vector<double> d(1000);
    k::fill_bits64(bits.data(), 0, 1000, 5, 6);
    k::fill_uniform(f.data(), 0, 2000, 5, 6, 0.0F, 1.0F);
    k::fill_uniform(d.data(), 0, 1000, 5, 6, 0.0, 1.0);
    for (size_t i = 0; i < 1000; ++i) {
      const auto low = static_cast<uint32_t>(bits[i]), high = static_cast<uint32_t>(bits[i] >> 32);
      ASSERT_EQ(f[2 * i], static_cast<float>(low >> 8) * 0x1p-24F) << i;
      ASSERT_EQ(f[2 * i + 1], static_cast<float>(high >> 8) * 0x1p-24F) << i;
      ASSERT_EQ(d[i], static_cast<double>(bits[i] >> 11) * 0x1p-53) << i;
    }
  });
}

template <class T>
class KernelsRandomT : public ::testing::Test {};
using Floats = ::testing::Types<float, double>;
TYPED_TEST_SUITE(KernelsRandomT, Floats);

TYPED_TEST(KernelsRandomT, UniformStaysBelowHigh) {
  using T = TypeParam;
  on_every_target([] {
    std::vector<T> v(200'000);
    for (auto [low, high] : {std::pair<T, T>{0, 1},
                             {-3, 5},
                             {T(1e6), T(1e6) + T(0.5)},
                             {1, std::nextafter(T(1), T(2))}}) {
      k::fill_uniform(v.data(), 0, 200'000, 3, 4, low, high);
      const auto [least, most] = std::minmax_element(v.begin(), v.end());
      EXPECT_GE(*least, low);
      EXPECT_LT(*most, high);
    }
    k::fill_uniform(v.data(), 0, 200'000, 3, 4, T(0), T(1));
    double mean = 0, square = 0;
    for (T x : v) mean += double(x) / 2e5, square += double(x) * double(x) / 2e5;
    EXPECT_NEAR(mean, 0.5, 4 * 0.29 / std::sqrt(2e5));
    EXPECT_NEAR(square, 1.0 / 3, 4 * 0.3 / std::sqrt(2e5));
    k::fill_uniform_open(v.data(), 0, 200'000, 3, 4);
    for (T x : v) ASSERT_TRUE(x > 0 && x < 1 && std::isfinite(std::log(-std::log(x))));
  });
}

TYPED_TEST(KernelsRandomT, NormalHasItsMomentsAndTails) {
  using T = TypeParam;
  on_every_target([] {
    const int64_t n = 1'000'000;
    std::vector<T> v(n);
    k::fill_normal(v.data(), 0, n, 5, 6, T(0), T(1));
    double m1 = 0, m2 = 0, m3 = 0, m4 = 0, pair = 0, next = 0, most = 0;
    int64_t beyond[4] = {0, 0, 0, 0};
    for (int64_t i = 0; i < n; ++i) {
      const double x = double(v[i]);
      ASSERT_TRUE(std::isfinite(x));
      m1 += x, m2 += x * x, m3 += x * x * x, m4 += x * x * x * x;
      if (i % 2 == 0) pair += x * double(v[i + 1]);
      if (i % 2 == 1 && i + 1 < n) next += x * double(v[i + 1]);
      most = std::max(most, std::fabs(x));
      for (int s = 1; s <= 4; ++s) beyond[s - 1] += x > s;
    }
    const double root = 1 / std::sqrt(double(n));
    EXPECT_NEAR(m1 / n, 0, 4 * root);
    EXPECT_NEAR(m2 / n, 1, 4 * std::sqrt(2.0) * root);
    EXPECT_NEAR(m3 / n, 0, 4 * std::sqrt(15.0) * root);
    EXPECT_NEAR(m4 / n, 3, 4 * std::sqrt(96.0) * root);
    EXPECT_NEAR(pair / n, 0, 4 * root);
    EXPECT_NEAR(next / n, 0, 4 * root);
    EXPECT_GT(most, 4.2);
    EXPECT_LT(most, 6.8);
    for (int s = 1; s <= 4; ++s) {
      const double p = 0.5 * std::erfc(s / std::sqrt(2.0));
      EXPECT_NEAR(double(beyond[s - 1]) / n, p, 4 * std::sqrt(p) * root) << s;
    }
    k::fill_normal(v.data(), 0, n, 5, 7, T(-2), T(0.5));
    double mean = 0;
    for (T x : v) mean += double(x) / n;
    EXPECT_NEAR(mean, -2, 2 * root);
  });
}

// Box and Muller by the definition, from the same words.
TEST(KernelsRandom, NormalDoubleIsAccurate) {
  on_every_target([] {
    std::vector<double> z(2000);
    std::vector<uint64_t> bits(2000);
    k::fill_normal(z.data(), 0, 2000, 8, 9, 0.0, 1.0);
    k::fill_bits64(bits.data(), 0, 2000, 8, 9);
    for (int64_t i = 0; i < 2000; i += 2) {
      const long double u = (static_cast<long double>(bits[i] >> 12) + 0.5L) * 0x1p-52L;
      const long double r = std::sqrt(-2 * std::log(u));
      // The low 62 bits, read as signed, are an eighth of a turn either way from the quadrant's
      // start; the top two bits are the quadrant.
      const long double small =
          static_cast<long double>(static_cast<int64_t>(bits[i + 1] << 2)) * 0x1p-64L;
      const long double angle =
          1.57079632679489661923L * (static_cast<long double>(bits[i + 1] >> 62) + small);
      ASSERT_TRUE(std::fabs(double(r * std::cos(angle)) - z[i]) <= 4e-15) << i;
      ASSERT_TRUE(std::fabs(double(r * std::sin(angle)) - z[i + 1]) <= 4e-15) << i;
    }
  });
}

TEST(KernelsRandom, Integers) {
  std::vector<int64_t> v(100'000), count(7);
  k::fill_integers(v.data(), 0, 100'000, 1, 2, -3, 4);
  for (int64_t x : v) {
    ASSERT_TRUE(x >= -3 && x < 4);
    ++count[x + 3];
  }
  for (int64_t c : count) EXPECT_NEAR(double(c), 1e5 / 7, 4 * std::sqrt(1e5 / 7));
  k::fill_integers(v.data(), 0, 1000, 1, 2, std::numeric_limits<int64_t>::min(),
                   std::numeric_limits<int64_t>::max());
  EXPECT_TRUE(std::any_of(v.begin(), v.begin() + 1000, [](int64_t x) { return x < -1000; }));
}

TEST(KernelsRandom, Bernoulli) {
  on_every_target([] {
    std::vector<uint8_t> v(1'000'000);
    for (double p : {0.0, 1e-4, 0.1, 0.5, 0.999, 1.0}) {
      k::fill_bernoulli(v.data(), 0, 1'000'000, 1, 2, p);
      int64_t ones = 0;
      for (uint8_t b : v) {
        ASSERT_LE(b, 1);
        ones += b;
      }
      EXPECT_TRUE(std::fabs(double(ones) - 1e6 * p) <= 4 * std::sqrt(1e6 * p * (1 - p))) << p;
    }
  });
}

TYPED_TEST(KernelsRandomT, DropoutFollowsTheMaskOfBernoulli) {
  using T = TypeParam;
  on_every_target([] {
    const int64_t n = 1'000'000;
    std::vector<T> x(n, T(1)), y(n, T(9));
    std::vector<uint8_t> keep(n);
    for (double p : {0.1, 0.5, 0.9}) {
      k::dropout(x.data(), y.data(), 0, n, p, 3, 4);
      k::fill_bernoulli(keep.data(), 0, n, 3, 4, 1 - p);
      double mean = 0;
      for (int64_t i = 0; i < n; ++i) {
        ASSERT_EQ(y[i], keep[i] ? T(1 / (1 - p)) : T(0));
        mean += double(y[i]) / n;
      }
      EXPECT_NEAR(mean, 1, 0.002 * (p < 0.2 ? 1 : 6));
    }
    x[5] = std::numeric_limits<T>::quiet_NaN();
    k::dropout(x.data(), y.data(), 0, n, 1.0, 3, 4);
    EXPECT_TRUE(std::all_of(y.begin(), y.end(), [](T v) { return v == T(0); }));
    k::dropout(x.data(), y.data(), 0, n, 0.0, 3, 4);
    EXPECT_EQ(std::memcmp(x.data(), y.data(), n * sizeof(T)), 0);
  });
}

}  // namespace
