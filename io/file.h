// Whole files in, and whole files out: what is written appears complete under its name, or not at
// all.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace fovea {

/// The bytes of a regular file. IoError names the file and the system's reason; a folder is
/// refused.
std::string read_file(const std::string& path);

/// Writes `bytes` so that `path` shows the old content or the new, never a part of either.
void write_file_atomically(const std::string& path, std::string_view bytes);

/// Makes a folder and those above it; one that exists is fine. Nothing else here creates folders.
void make_dirs(const std::string& path);

/// A file that is written piece by piece: a temporary in the folder of `path`, which commit()
/// brings to the disk and renames. Without commit() nothing remains. A symbolic link is followed,
/// the permissions of a file that is replaced are kept, and anything that is not a regular file (a
/// device, a folder) is refused. Every failure is an IoError.
class AtomicFile {
 public:
  explicit AtomicFile(const std::string& path);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  void write(const void* data, size_t bytes);
  void write(std::string_view bytes) { write(bytes.data(), bytes.size()); }
  void commit();

 private:
  [[noreturn]] void fail(const char* what) const;
  std::string path_, temporary_;
  int fd_ = -1;
};

namespace detail {

/// The path for a call of the system, which would take a zero byte for its end and open another
/// file. IoError, which `op` begins.
const char* system_path(const char* op, const std::string& path);

}  // namespace detail
}  // namespace fovea
