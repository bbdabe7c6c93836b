// Files of arrays.
#include <zlib.h>

#include <vector>

#include "fovea/io/gzip.h"
#include "fovea/io/idx.h"
#include "fovea/io/npy.h"
#include "fovea/io/npz.h"
#include "fovea/io/safetensors.h"
#include "fovea/ops/ops.h"
#include "tests/fuzz/targets.h"

namespace fovea::fuzz {
namespace {

// Looks at every element: what was not written, or lies outside, shows under a sanitizer.
void look_at(const Tensor& t) {
  const Tensor c = contiguous(t);
  uint64_t sum = 0;
  const auto bytes = static_cast<size_t>(c.numel() * item_size(c.dtype()));
  for (size_t i = 0; i < bytes; ++i) sum += static_cast<unsigned char>(c.raw()[i]);
  require(sum <= 255 * uint64_t{bytes}, "bytes are below 256");
}

void look_at(const TensorMap& map) {
  for (const auto& [name, t] : map.tensors) look_at(t);
}

}  // namespace

void fuzz_safetensors(Bytes bytes) {
  const MemoryFile file(bytes);
  look_at(read_safetensors(file.path()));
}

void fuzz_npy(Bytes bytes) {
  const Tensor t = decode_npy(text_of(bytes), "bytes");
  look_at(t);
  const Tensor again = decode_npy(encode_npy(t), "again");
  require(again.shape() == t.shape() && again.dtype() == t.dtype(), "writing keeps the form");
}

void fuzz_npz(Bytes bytes) {
  const MemoryFile file(bytes);
  std::vector<std::string> refused;
  const TensorMap some = read_npz(file.path(), &refused);
  look_at(some);
  const TensorMap all = read_npz(file.path());  // refuses what was refused above
  require(refused.empty(), "a file with a bad array is refused as a whole");
  require(all.tensors.size() == some.tensors.size(), "both ways give the same arrays");
}

void fuzz_idx(Bytes bytes) {
  const MemoryFile file(bytes);
  const IdxData data = read_idx(file.path());
  require(data.shape.numel() == static_cast<int64_t>(data.bytes.size()), "a byte per element");
  look_at(data.shape.rank() == 1 ? idx_labels(file.path()) : idx_images(file.path()));
}

// What zlib's compressor makes of the bytes is read back too: most inputs are no gzip files.
void fuzz_gzip(Bytes bytes) {
  constexpr int64_t kLimit = int64_t{1} << 24;
  std::string packed(compressBound(bytes.size()) + 32, '\0');
  z_stream z{};
  require(deflateInit2(&z, 1, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY) == Z_OK, "starts");
  z.next_in = const_cast<Bytef*>(bytes.data());
  z.avail_in = static_cast<uInt>(bytes.size());
  z.next_out = reinterpret_cast<Bytef*>(packed.data());
  z.avail_out = static_cast<uInt>(packed.size());
  require(deflate(&z, Z_FINISH) == Z_STREAM_END, "packs");
  packed.resize(z.total_out);
  deflateEnd(&z);
  const MemoryFile good({reinterpret_cast<const uint8_t*>(packed.data()), packed.size()});
  require(read_maybe_gzip(good.path(), kLimit) == text_of(bytes), "unpacking gives the bytes");

  const MemoryFile file(bytes);
  const std::string content = read_maybe_gzip(file.path(), kLimit);
  require(static_cast<int64_t>(content.size()) <= kLimit, "the limit is kept");
}

}  // namespace fovea::fuzz
