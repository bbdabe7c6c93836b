// Philox over vectors: one block in each 64-bit lane, as the multiplication wants it.
// Per-target header: included once for each instruction set.
#if defined(FOVEA_OPS_KERNELS_PHILOX_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FOVEA_OPS_KERNELS_PHILOX_INL_H_
#undef FOVEA_OPS_KERNELS_PHILOX_INL_H_
#else
#define FOVEA_OPS_KERNELS_PHILOX_INL_H_
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "fovea/core/philox.h"
#include "fovea/ops/kernels/load-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fovea::kernels::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

inline constexpr int64_t kBlocks = 256;  // of Philox in a buffer: 4 KiB, which stays in cache
inline constexpr int64_t kBufferWords = 4 * kBlocks + 64;  // one vector may be read past the end

// Writes `blocks` <= kBlocks blocks from `first` on, 4 words each, rounded up to whole vectors.
HWY_INLINE void Words(uint64_t first, int64_t blocks, uint64_t seed, uint64_t stream,
                      uint32_t* HWY_RESTRICT out) {
#if HWY_TARGET == HWY_SCALAR
  for (int64_t b = 0; b < blocks; ++b) {
    const auto words = philox_block(seed, stream, first + static_cast<uint64_t>(b));
    std::copy(words.begin(), words.end(), out + 4 * b);
  }
#else
  const hn::ScalableTag<uint64_t> d;
  const hn::Repartition<uint32_t, decltype(d)> d32;
  using V = hn::Vec<decltype(d)>;
  const V m0 = hn::Set(d, kPhiloxMultiplier0), m1 = hn::Set(d, kPhiloxMultiplier1);
  const V low_half = hn::Set(d, 0xFFFFFFFFu);
  const V stream_low = hn::Set(d, stream), stream_high = hn::Set(d, stream >> 32);
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  HWY_ALIGN uint64_t keys[2 * kPhiloxRounds * hn::MaxLanes(d)];  // one vector each, ready to load
  for (int round = 0; round < kPhiloxRounds; ++round) {
    const uint32_t r = static_cast<uint32_t>(round);
    const uint32_t k0 = static_cast<uint32_t>(seed) + r * kPhiloxWeyl0;
    const uint32_t k1 = static_cast<uint32_t>(seed >> 32) + r * kPhiloxWeyl1;
    hn::Store(hn::Set(d, k0), d, keys + 2 * round * lanes);
    hn::Store(hn::Set(d, k1), d, keys + (2 * round + 1) * lanes);
  }
  for (int64_t b = 0; b < blocks; b += lanes) {
    const V index = hn::Iota(d, first + static_cast<uint64_t>(b));
    // Only the low halves count: what the high ones hold never gets down.
    V c0 = index, c1 = hn::ShiftRight<32>(index), c2 = stream_low, c3 = stream_high;
    for (int round = 0; round < kPhiloxRounds; ++round) {
      const V k0 = hn::Load(d, keys + 2 * round * lanes);
      const V k1 = hn::Load(d, keys + (2 * round + 1) * lanes);
      const V p0 = hn::MulEven(hn::BitCast(d32, c0), hn::BitCast(d32, m0));
      const V p1 = hn::MulEven(hn::BitCast(d32, c2), hn::BitCast(d32, m1));
      // A shuffle brings the high half down: shifts share a port with the multiplications.
      c0 = hn::Xor3(hn::BitCast(d, hn::DupOdd(hn::BitCast(d32, p1))), c1, k0);
      c2 = hn::Xor3(hn::BitCast(d, hn::DupOdd(hn::BitCast(d32, p0))), c3, k1);
      c1 = p1;
      c3 = p0;
    }
    const V w01 = hn::Or(hn::And(c0, low_half), hn::ShiftLeft<32>(c1));
    const V w23 = hn::Or(hn::And(c2, low_half), hn::ShiftLeft<32>(c3));
    hn::StoreInterleaved2(w01, w23, d, reinterpret_cast<uint64_t*>(out + 4 * b));
  }
#endif
}

// Calls use(words, done, count) for pieces of [begin, begin + n): `words` holds the random words of
// `count` elements, of which `done` came before. kPrepare(buffer, blocks) sees a whole buffer
// first.
template <int kWordsPerElement, class Prepare, class Use>
HWY_INLINE void ForPieces(int64_t begin, int64_t n, uint64_t seed, uint64_t stream,
                          const Prepare& prepare, const Use& use) {
  constexpr int64_t kPerBlock = 4 / kWordsPerElement;
  HWY_ALIGN uint32_t buffer[kBufferWords];
  std::memset(buffer + 4 * kBlocks, 0, (kBufferWords - 4 * kBlocks) * sizeof(uint32_t));
  int64_t block = begin / kPerBlock, skip = begin % kPerBlock;
  for (int64_t done = 0; done < n; block += kBlocks, skip = 0) {
    const int64_t count = std::min(n - done, kPerBlock * kBlocks - skip);
    const int64_t blocks = (skip + count + kPerBlock - 1) / kPerBlock;
    Words(static_cast<uint64_t>(block), blocks, seed, stream, buffer);
    prepare(buffer, blocks);
    use(buffer + skip * kWordsPerElement, done, count);
    done += count;
  }
}

struct NoPreparation {
  HWY_INLINE void operator()(uint32_t* /*buffer*/, int64_t /*blocks*/) const {}
};

}  // namespace fovea::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
