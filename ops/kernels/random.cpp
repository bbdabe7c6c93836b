#include "fovea/ops/kernels/random.h"

#include <cmath>
#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fovea/ops/kernels/random.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "fovea/ops/kernels/philox-inl.h"
#include "fovea/ops/kernels/vmath-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fovea::kernels::HWY_NAMESPACE {

namespace {  // other kernels may use the same names

namespace hn = hwy::HWY_NAMESPACE;

template <class T>
inline constexpr int kWords = static_cast<int>(sizeof(T) / sizeof(uint32_t));

// Hides a product from the compiler, which would otherwise fuse it with the addition that follows
// on the instruction sets that can: one rounding instead of two, and other bits.
template <class V>
HWY_INLINE V Rounded(V v) {
#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3
  __asm__("" : "+x"(v.raw));
#endif
  return v;
}

// The random words at p as the unsigned integers that go with T. Highway's scalar target reads and
// writes through plain pointers, which must not look at uint32_t as anything else: memcpy may.
template <class D, class DU = hn::RebindToUnsigned<D>>
HWY_INLINE hn::Vec<DU> LoadBits(D /*d*/, const uint32_t* p) {
#if HWY_TARGET == HWY_SCALAR
  hn::TFromD<DU> bits;
  std::memcpy(&bits, p, sizeof(bits));
  return hn::Set(DU(), bits);
#else
  return hn::LoadU(DU(), reinterpret_cast<const hn::TFromD<DU>*>(p));
#endif
}

// (a0, b0, a1, b1, ...) at p.
template <class D, class VU>
HWY_INLINE void LoadPairs(D d, const uint32_t* p, VU& a, VU& b) {
#if HWY_TARGET == HWY_SCALAR
  a = LoadBits(d, p);
  b = LoadBits(d, p + kWords<hn::TFromD<D>>);
#else
  const hn::RebindToUnsigned<D> du;
  hn::LoadInterleaved2(du, reinterpret_cast<const hn::TFromD<decltype(du)>*>(p), a, b);
  (void)d;
#endif
}

template <class D, class V>
HWY_INLINE void StorePairs(D /*d*/, V x, V y, uint32_t* p) {
#if HWY_TARGET == HWY_SCALAR
  const hn::TFromD<D> pair[2] = {hn::GetLane(x), hn::GetLane(y)};
  std::memcpy(p, pair, sizeof(pair));
#else
  const hn::RebindToUnsigned<D> du;
  hn::StoreInterleaved2(hn::BitCast(du, x), hn::BitCast(du, y), du,
                        reinterpret_cast<hn::TFromD<decltype(du)>*>(p));
#endif
}

// Integers below 2^31 (float) or 2^63 (double), made floating.
template <class D, class VU>
HWY_INLINE hn::Vec<D> ToFloating(D d, VU v) {
  return hn::ConvertTo(d, hn::BitCast(hn::RebindToSigned<D>(), v));
}

// out = convert(d, bits) for each element, bits being its random words.
template <class T, class Convert>
HWY_INLINE void FillWith(T* out, int64_t begin, int64_t n, uint64_t seed, uint64_t stream,
                         const Convert& convert) {
  ForPieces<kWords<T>>(begin, n, seed, stream, NoPreparation(),
                       [&](const uint32_t* words, int64_t done, int64_t count) HWY_ATTR {
                         const hn::ScalableTag<T> d;
                         const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
                         int64_t i = 0;
                         for (; i + lanes <= count; i += lanes) {
                           hn::StoreU(convert(d, LoadBits(d, words + i * kWords<T>)), d,
                                      out + done + i);
                         }
                         if (i < count) {
                           StoreN(d, convert(d, LoadBits(d, words + i * kWords<T>)), out + done + i,
                                  static_cast<size_t>(count - i));
                         }
                       });
}

template <class T>
struct Uniform {
  T low, span, last;  // last: the largest value below high
  template <class D, class VU>
  HWY_INLINE hn::Vec<D> operator()(D d, VU bits) const {
    constexpr int kShift = sizeof(T) == 4 ? 8 : 11;
    constexpr T kUnit = sizeof(T) == 4 ? T(0x1p-24) : T(0x1p-53);
    const auto u = hn::Mul(ToFloating(d, hn::ShiftRight<kShift>(bits)), hn::Set(d, kUnit));
    const auto v = hn::Add(Rounded(hn::Mul(u, hn::Set(d, span))), hn::Set(d, low));
    return hn::Min(v, hn::Set(d, last));
  }
};

template <class T>
struct UniformOpen {
  template <class D, class VU>
  HWY_INLINE hn::Vec<D> operator()(D d, VU bits) const {
    constexpr int kShift = sizeof(T) == 4 ? 9 : 12;
    constexpr T kUnit = sizeof(T) == 4 ? T(0x1p-23) : T(0x1p-52);
    const auto k = ToFloating(d, hn::ShiftRight<kShift>(bits));
    return hn::Mul(hn::Add(k, hn::Set(d, T(0.5))), hn::Set(d, kUnit));
  }
};

template <class T>
HWY_INLINE void FillUniform(T* out, int64_t begin, int64_t n, uint64_t seed, uint64_t stream, T low,
                            T high) {
  FillWith(out, begin, n, seed, stream, Uniform<T>{low, high - low, std::nextafter(high, low)});
}

// sin and cos of t in [-pi/4, pi/4], Taylor's series.
template <class D, class V>
HWY_INLINE void SinCosSmall(D d, V t, V& sin, V& cos) {
  const V z = hn::Mul(t, t);
  if constexpr (sizeof(hn::TFromD<D>) == 4) {
    sin = hn::Mul(t, vmath::Horner(d, z, 1.0, -1.0 / 6, 1.0 / 120, -1.0 / 5040, 1.0 / 362880));
    cos = vmath::Horner(d, z, 1.0, -1.0 / 2, 1.0 / 24, -1.0 / 720, 1.0 / 40320, -1.0 / 3628800);
  } else {
    sin = hn::Mul(
        t, vmath::Horner(d, z, 1.0, -1.0 / 6, 1.0 / 120, -1.0 / 5040, 1.0 / 362880, -1.0 / 39916800,
                         1.0 / 6227020800, -1.0 / 1307674368000, 1.0 / 355687428096000));
    cos = vmath::Horner(d, z, 1.0, -1.0 / 2, 1.0 / 24, -1.0 / 720, 1.0 / 40320, -1.0 / 3628800,
                        1.0 / 479001600, -1.0 / 87178291200, 1.0 / 20922789888000);
  }
}

// Two uniform integers a, b -> two independent standard normals r cos, r sin:
// r = sqrt(-2 log u), u from a; the angle from b, whose top two bits are the quadrant.
template <class D, class VU, class V>
HWY_INLINE void BoxMuller(D d, VU a, VU b, V& x, V& y) {
  using T = hn::TFromD<D>;
  const hn::RebindToUnsigned<D> du;
  constexpr bool kFloat = sizeof(T) == 4;
  constexpr int kBits = kFloat ? 32 : 64;
  constexpr int kShift = kFloat ? 1 : 12;  // 31 bits keep the tail to 6.7, rounded to 24 digits
  constexpr T kUnit = kFloat ? T(0x1p-31) : T(0x1p-52);
  const auto k = ToFloating(d, hn::ShiftRight<kShift>(a));
  const auto u = hn::Mul(hn::Add(k, hn::Set(d, T(0.5))), hn::Set(d, kUnit));
  const auto r = hn::Sqrt(hn::Mul(hn::Set(d, T(-2)), vmath::Log(d, u)));

  constexpr T kAngle = T(1.57079632679489662) * (kFloat ? T(0x1p-32) : T(0x1p-64));
  const auto t = hn::Mul(ToFloating(d, hn::ShiftLeft<2>(b)), hn::Set(d, kAngle));
  V sin, cos;
  SinCosSmall(d, t, sin, cos);
  const auto sign_bit = hn::BitCast(du, hn::SignBit(d));
  const auto half_turn = hn::BitCast(d, hn::And(b, sign_bit));
  const auto quarter_turn = hn::BitCast(d, hn::And(hn::ShiftLeft<1>(b), sign_bit));
  const auto turned = hn::MaskFromVec(
      hn::BitCast(d, hn::BroadcastSignBit(hn::BitCast(hn::RebindToSigned<D>(), quarter_turn))));
  const auto c = hn::Xor(hn::IfThenElse(turned, sin, cos), hn::Xor(half_turn, quarter_turn));
  const auto s = hn::Xor(hn::IfThenElse(turned, cos, sin), half_turn);
  static_assert(kBits == 8 * sizeof(T));
  x = hn::Mul(r, c);
  y = hn::Mul(r, s);
}

template <class T>
HWY_INLINE void FillNormal(T* out, int64_t begin, int64_t n, uint64_t seed, uint64_t stream, T mean,
                           T std) {
  const hn::ScalableTag<T> d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  // The whole buffer becomes normals in place, pairs side by side; then the piece is copied out.
  const auto prepare = [&](uint32_t* buffer, int64_t blocks) HWY_ATTR {
    for (int64_t i = 0; i < blocks * 4 / kWords<T>; i += 2 * lanes) {
      hn::Vec<hn::RebindToUnsigned<decltype(d)>> a, b;
      LoadPairs(d, buffer + i * kWords<T>, a, b);
      hn::Vec<decltype(d)> x, y;
      BoxMuller(d, a, b, x, y);
      StorePairs(d, x, y, buffer + i * kWords<T>);
    }
  };
  const auto use = [&](const uint32_t* words, int64_t done, int64_t count) HWY_ATTR {
    const auto value = [&](int64_t i) HWY_ATTR {
      const auto z = hn::BitCast(d, LoadBits(d, words + i * kWords<T>));
      return hn::MulAdd(z, hn::Set(d, std), hn::Set(d, mean));
    };
    int64_t i = 0;
    for (; i + lanes <= count; i += lanes) hn::StoreU(value(i), d, out + done + i);
    if (i < count) StoreN(d, value(i), out + done + i, static_cast<size_t>(count - i));
  };
  ForPieces<kWords<T>>(begin, n, seed, stream, prepare, use);
}

void Bits64(uint64_t* out, int64_t begin, int64_t n, uint64_t seed, uint64_t stream) {
  ForPieces<2>(begin, n, seed, stream, NoPreparation(),
               [&](const uint32_t* words, int64_t done, int64_t count) HWY_ATTR {
                 std::memcpy(out + done, words, static_cast<size_t>(count) * sizeof(uint64_t));
               });
}

// 1 where the word is below the threshold.
void Below(uint8_t* out, int64_t begin, int64_t n, uint64_t seed, uint64_t stream,
           uint32_t threshold) {
  const hn::ScalableTag<uint32_t> d;
  const hn::RebindToSigned<decltype(d)> di;
  const hn::Rebind<uint8_t, decltype(d)> d8;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  ForPieces<1>(begin, n, seed, stream, NoPreparation(),
               [&](const uint32_t* words, int64_t done, int64_t count) HWY_ATTR {
                 int64_t i = 0;
                 for (; i + lanes <= count; i += lanes) {
                   const auto keep = hn::Lt(hn::LoadU(d, words + i), hn::Set(d, threshold));
                   const auto one = hn::IfThenElseZero(keep, hn::Set(d, 1u));
                   hn::StoreU(hn::DemoteTo(d8, hn::BitCast(di, one)), d8, out + done + i);
                 }
                 for (; i < count; ++i) out[done + i] = words[i] < threshold ? 1 : 0;
               });
}

template <class T>
HWY_INLINE void Drop(const T* x, T* y, int64_t begin, int64_t n, uint64_t seed, uint64_t stream,
                     uint32_t threshold, T scale) {
  const hn::ScalableTag<T> d;
  const hn::RebindToSigned<decltype(d)> di;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  ForPieces<1>(begin, n, seed, stream, NoPreparation(),
               [&](const uint32_t* words, int64_t done, int64_t count) HWY_ATTR {
                 const auto body = [&](int64_t i, const auto& memory) HWY_ATTR {
                   const auto v = hn::Mul(memory.Load(d, x + done + i), hn::Set(d, scale));
                   if constexpr (sizeof(T) == 4) {
                     const hn::RebindToUnsigned<decltype(d)> du;
                     const auto keep = hn::Lt(hn::LoadU(du, words + i), hn::Set(du, threshold));
                     memory.Store(d, hn::IfThenElseZero(hn::RebindMask(d, keep), v), y + done + i);
                   } else {
                     const hn::Rebind<uint32_t, decltype(d)> d32;
                     const hn::RebindToUnsigned<decltype(d)> du;
                     const auto wide =
                         hn::BitCast(di, hn::PromoteTo(du, hn::LoadU(d32, words + i)));
                     const auto keep = hn::Lt(wide, hn::Set(di, static_cast<int64_t>(threshold)));
                     memory.Store(d, hn::IfThenElseZero(hn::RebindMask(d, keep), v), y + done + i);
                   }
                 };
                 int64_t i = 0;
                 for (; i + lanes <= count; i += lanes) body(i, Whole());
                 if (i < count) body(i, Partial{static_cast<size_t>(count - i)});
               });
}

void UniformF32(float* out, int64_t begin, int64_t n, uint64_t seed, uint64_t stream, float low,
                float high) {
  FillUniform(out, begin, n, seed, stream, low, high);
}
void UniformF64(double* out, int64_t begin, int64_t n, uint64_t seed, uint64_t stream, double low,
                double high) {
  FillUniform(out, begin, n, seed, stream, low, high);
}
void UniformOpenF32(float* out, int64_t begin, int64_t n, uint64_t seed, uint64_t stream) {
  FillWith(out, begin, n, seed, stream, UniformOpen<float>());
}
void UniformOpenF64(double* out, int64_t begin, int64_t n, uint64_t seed, uint64_t stream) {
  FillWith(out, begin, n, seed, stream, UniformOpen<double>());
}
void NormalF32(float* out, int64_t begin, int64_t n, uint64_t seed, uint64_t stream, float mean,
               float std) {
  FillNormal(out, begin, n, seed, stream, mean, std);
}
void NormalF64(double* out, int64_t begin, int64_t n, uint64_t seed, uint64_t stream, double mean,
               double std) {
  FillNormal(out, begin, n, seed, stream, mean, std);
}
void DropF32(const float* x, float* y, int64_t begin, int64_t n, uint64_t seed, uint64_t stream,
             uint32_t threshold, float scale) {
  Drop(x, y, begin, n, seed, stream, threshold, scale);
}
void DropF64(const double* x, double* y, int64_t begin, int64_t n, uint64_t seed, uint64_t stream,
             uint32_t threshold, double scale) {
  Drop(x, y, begin, n, seed, stream, threshold, scale);
}

}  // namespace
}  // namespace fovea::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fovea::kernels {

HWY_EXPORT(Bits64);
HWY_EXPORT(Below);
HWY_EXPORT(UniformF32);
HWY_EXPORT(UniformF64);
HWY_EXPORT(UniformOpenF32);
HWY_EXPORT(UniformOpenF64);
HWY_EXPORT(NormalF32);
HWY_EXPORT(NormalF64);
HWY_EXPORT(DropF32);
HWY_EXPORT(DropF64);

namespace {

// A word is below this with probability p; 2^32 stands for always.
uint64_t threshold_of(double p) {
  if (!(p > 0)) return 0;
  return p >= 1 ? uint64_t{1} << 32 : static_cast<uint64_t>(std::llround(p * 0x1p32));
}

template <class T, class Kernel>
void drop(const T* x, T* y, int64_t begin, int64_t n, double p, uint64_t seed, uint64_t stream,
          Kernel kernel) {
  const uint64_t threshold = threshold_of(1 - p);
  const T scale = static_cast<T>(1 / (1 - p));
  if (threshold == 0) {
    std::fill(y, y + n, T(0));
  } else if (threshold >> 32 == 0) {
    kernel(x, y, begin, n, seed, stream, static_cast<uint32_t>(threshold), scale);
  } else if (x != y) {
    std::copy(x, x + n, y);
  }
}

}  // namespace

void fill_bits64(uint64_t* out, int64_t begin, int64_t n, uint64_t seed, uint64_t stream) {
  HWY_DYNAMIC_DISPATCH(Bits64)(out, begin, n, seed, stream);
}

void fill_uniform(float* out, int64_t begin, int64_t n, uint64_t seed, uint64_t stream, float low,
                  float high) {
  HWY_DYNAMIC_DISPATCH(UniformF32)(out, begin, n, seed, stream, low, high);
}
void fill_uniform(double* out, int64_t begin, int64_t n, uint64_t seed, uint64_t stream, double low,
                  double high) {
  HWY_DYNAMIC_DISPATCH(UniformF64)(out, begin, n, seed, stream, low, high);
}

void fill_uniform_open(float* out, int64_t begin, int64_t n, uint64_t seed, uint64_t stream) {
  HWY_DYNAMIC_DISPATCH(UniformOpenF32)(out, begin, n, seed, stream);
}
void fill_uniform_open(double* out, int64_t begin, int64_t n, uint64_t seed, uint64_t stream) {
  HWY_DYNAMIC_DISPATCH(UniformOpenF64)(out, begin, n, seed, stream);
}

void fill_normal(float* out, int64_t begin, int64_t n, uint64_t seed, uint64_t stream, float mean,
                 float std) {
  HWY_DYNAMIC_DISPATCH(NormalF32)(out, begin, n, seed, stream, mean, std);
}
void fill_normal(double* out, int64_t begin, int64_t n, uint64_t seed, uint64_t stream, double mean,
                 double std) {
  HWY_DYNAMIC_DISPATCH(NormalF64)(out, begin, n, seed, stream, mean, std);
}

void fill_integers(int64_t* out, int64_t begin, int64_t n, uint64_t seed, uint64_t stream,
                   int64_t low, int64_t high) {
  __extension__ using uint128 = unsigned __int128;
  const uint64_t range = static_cast<uint64_t>(high) - static_cast<uint64_t>(low);
  fill_bits64(reinterpret_cast<uint64_t*>(out), begin, n, seed, stream);
  for (int64_t i = 0; i < n; ++i) {
    const uint128 product = uint128{static_cast<uint64_t>(out[i])} * range;
    out[i] =
        static_cast<int64_t>(static_cast<uint64_t>(low) + static_cast<uint64_t>(product >> 64));
  }
}

void fill_bernoulli(uint8_t* out, int64_t begin, int64_t n, uint64_t seed, uint64_t stream,
                    double p) {
  const uint64_t threshold = threshold_of(p);
  if (threshold >> 32 != 0) {
    std::fill(out, out + n, uint8_t{1});
  } else {
    HWY_DYNAMIC_DISPATCH(Below)(out, begin, n, seed, stream, static_cast<uint32_t>(threshold));
  }
}

void dropout(const float* x, float* y, int64_t begin, int64_t n, double p, uint64_t seed,
             uint64_t stream) {
  drop(x, y, begin, n, p, seed, stream, HWY_DYNAMIC_DISPATCH(DropF32));
}
void dropout(const double* x, double* y, int64_t begin, int64_t n, double p, uint64_t seed,
             uint64_t stream) {
  drop(x, y, begin, n, p, seed, stream, HWY_DYNAMIC_DISPATCH(DropF64));
}

}  // namespace fovea::kernels
#endif  // HWY_ONCE
