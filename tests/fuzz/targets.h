// What reads bytes that somebody else wrote, each as a function of the bytes.
//
// The bytes may be anything. A function returns, or lets a fovea::Error through; whatever else
// happens is a fault: another exception, a crash, memory that the bytes do not account for.
// driver.cpp makes a libFuzzer program of each (scripts/fuzz.sh), and io/fuzz_seeds_test.cpp runs
// each on the files of seeds/NAME/.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace fovea::fuzz {

using Bytes = std::span<const uint8_t>;

void fuzz_safetensors(Bytes bytes);
void fuzz_npy(Bytes bytes);
void fuzz_npz(Bytes bytes);
void fuzz_idx(Bytes bytes);
void fuzz_gzip(Bytes bytes);
void fuzz_pairs(Bytes bytes);
void fuzz_lexicon(Bytes bytes);
void fuzz_bpe(Bytes bytes);
void fuzz_vocabulary(Bytes bytes);
void fuzz_checkpoint(Bytes bytes);
void fuzz_torch_names(Bytes bytes);
void fuzz_gpt2(Bytes bytes);

struct Target {
  const char* name;
  void (*run)(Bytes bytes);
};
inline constexpr Target kTargets[] = {{"safetensors", fuzz_safetensors},
                                      {"npy", fuzz_npy},
                                      {"npz", fuzz_npz},
                                      {"idx", fuzz_idx},
                                      {"gzip", fuzz_gzip},
                                      {"pairs", fuzz_pairs},
                                      {"lexicon", fuzz_lexicon},
                                      {"bpe", fuzz_bpe},
                                      {"vocabulary", fuzz_vocabulary},
                                      {"checkpoint", fuzz_checkpoint},
                                      {"torch_names", fuzz_torch_names},
                                      {"gpt2", fuzz_gpt2}};

/// A file in memory that holds the bytes, for readers that take a path.
class MemoryFile {
 public:
  explicit MemoryFile(Bytes bytes);
  ~MemoryFile();
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;
  const std::string& path() const { return path_; }

 private:
  int fd_;
  std::string path_;
};

inline std::string_view text_of(Bytes bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// Ends the process when something that must hold does not: libFuzzer and Google Test report it.
void require(bool holds, const char* what);

}  // namespace fovea::fuzz
