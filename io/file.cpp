#include "fovea/io/file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include "fovea/core/error.h"
#include "fovea/io/unexpected.h"

namespace fovea {
namespace {

std::string reason(int error) { return std::generic_category().message(error); }

// Closes a descriptor at the end of the scope.
struct Descriptor {
  int fd;
  ~Descriptor() {
    if (fd >= 0) ::close(fd);
  }
};

template <class Call>
auto retry(Call call) {
  decltype(call()) result;
  do {
    result = call();
  } while (result < 0 && errno == EINTR);
  return result;
}

std::string folder_of(const std::string& path) {
  const auto slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

}  // namespace

const char* detail::system_path(const char* op, const std::string& path) {
  if (path.find('\0') != path.npos) {
    throw IoError(fmt::format("{}: the path '{}' holds a zero byte, which no file name can", op,
                              shown(path)));
  }
  return path.c_str();
}

std::string read_file(const std::string& path) {
  const char* name = detail::system_path("read_file", path);
  const Descriptor file{retry([&] { return ::open(name, O_RDONLY | O_CLOEXEC); })};
  struct stat info {};
  if (file.fd < 0 || ::fstat(file.fd, &info) != 0) {
    throw IoError(fmt::format("read_file: cannot open '{}': {}", path, reason(errno)));
  }
  if (S_ISDIR(info.st_mode)) {
    throw IoError(fmt::format("read_file: '{}' is a folder; name a file", path));
  }
  // The size is only a guess at how much to reserve: pipes have none, and files may grow.
  std::string bytes(static_cast<size_t>(std::max<off_t>(info.st_size, 0)) + 1, '\0');
  size_t filled = 0;
  while (true) {
    if (filled == bytes.size()) bytes.resize(bytes.size() * 2 + 4096);
    const ssize_t n =
        retry([&] { return ::read(file.fd, bytes.data() + filled, bytes.size() - filled); });
    if (n < 0) throw IoError(fmt::format("read_file: cannot read '{}': {}", path, reason(errno)));
    if (n == 0) break;
    filled += static_cast<size_t>(n);
  }
  bytes.resize(filled);
  return bytes;
}

void write_file_atomically(const std::string& path, std::string_view bytes) {
  AtomicFile file(path);
  file.write(bytes);
  file.commit();
}

void make_dirs(const std::string& path) {
  detail::system_path("make_dirs", path);
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (!error && !std::filesystem::is_directory(path, error) && !error) {
    error = std::make_error_code(std::errc::not_a_directory);
  }
  if (error) {
    throw IoError(fmt::format("make_dirs: cannot make '{}': {}", path, error.message()));
  }
}

AtomicFile::AtomicFile(const std::string& path) : path_(path) {
  detail::system_path("write", path);
  // Renaming onto a link would replace the link, so write where it leads.
  std::error_code error;
  if (std::filesystem::is_symlink(path, error)) {
    const auto target = std::filesystem::canonical(path, error);
    if (error) {
      throw IoError(
          fmt::format("write: '{}' is a link that leads nowhere: {}", path, error.message()));
    }
    path_ = target.string();
  }
  struct stat info {};
  const bool exists = ::stat(path_.c_str(), &info) == 0;
  if (exists && !S_ISREG(info.st_mode)) {
    throw IoError(fmt::format("write: '{}' is {}; name a file", path,
                              S_ISDIR(info.st_mode) ? "a folder" : "not a regular file"));
  }
  static std::atomic<unsigned> counter{0};
  do {
    temporary_ = fmt::format("{}.tmp-{}-{}", path_, ::getpid(), counter++);
    fd_ = retry(
        [&] { return ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666); });
  } while (fd_ < 0 && errno == EEXIST);
  if (fd_ < 0) {
    const std::string why = reason(errno);
    temporary_.clear();
    throw IoError(fmt::format("write: cannot create a file in '{}' for '{}': {}", folder_of(path_),
                              path, why));
  }
  if (exists) ::fchmod(fd_, info.st_mode & 0777);
}

AtomicFile::~AtomicFile() {
  if (fd_ >= 0) ::close(fd_);
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

void AtomicFile::fail(const char* what) const {
  throw IoError(fmt::format("write: cannot {} '{}': {}", what, path_, reason(errno)));
}

void AtomicFile::write(const void* data, size_t bytes) {
  const char* p = static_cast<const char*>(data);
  constexpr size_t kPiece = size_t{1} << 30;  // Linux writes at most 2 GiB a call
  while (bytes > 0) {
    const ssize_t n = retry([&] { return ::write(fd_, p, std::min(bytes, kPiece)); });
    if (n < 0) fail("write");
    p += n;
    bytes -= static_cast<size_t>(n);
  }
}

void AtomicFile::commit() {
  if (retry([&] { return ::fsync(fd_); }) != 0) fail("bring to the disk");
  const int closed = ::close(std::exchange(fd_, -1));
  if (closed != 0) fail("close");
  if (::rename(temporary_.c_str(), path_.c_str()) != 0) fail("rename the temporary file to");
  temporary_.clear();
  // The new name itself must survive a power cut. Some file systems cannot sync a folder; the
  // content is safe either way.
  const Descriptor folder{::open(folder_of(path_).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
  if (folder.fd >= 0) ::fsync(folder.fd);
}

}  // namespace fovea
