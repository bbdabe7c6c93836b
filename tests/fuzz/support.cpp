#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "tests/fuzz/targets.h"

namespace fovea::fuzz {

MemoryFile::MemoryFile(Bytes bytes) : fd_(::memfd_create("fuzz", MFD_CLOEXEC)) {
  require(fd_ >= 0, "memfd_create gives a file");
  for (size_t at = 0; at < bytes.size();) {
    const ssize_t n = ::write(fd_, bytes.data() + at, bytes.size() - at);
    require(n > 0, "the file takes the bytes");
    at += static_cast<size_t>(n);
  }
  path_ = fmt::format("/proc/self/fd/{}", fd_);
}

MemoryFile::~MemoryFile() { ::close(fd_); }

void require(bool holds, const char* what) {
  if (holds) return;
  fmt::print(stderr, "does not hold: {}\n", what);
  std::abort();
}

}  // namespace fovea::fuzz
