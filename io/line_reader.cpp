#include "fovea/io/line_reader.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <cerrno>
#include <system_error>

#include "fovea/core/error.h"
#include "fovea/io/file.h"

namespace fovea {
namespace {

constexpr size_t kBuffer = size_t{1} << 16;

[[noreturn]] void cannot(const char* what, const std::string& path, const std::string& why) {
  throw IoError(fmt::format("LineReader: cannot {} '{}': {}", what, path, why));
}

std::string system_reason() { return std::generic_category().message(errno); }

// What ends the lines of a file that begins so. Text of today holds lone carriage returns too, as
// parts of its lines: taking them for ends would shift two files that go together line by line.
std::string_view ends_of(std::string_view beginning) {
  const size_t cr = beginning.find('\r');
  const bool mac = beginning.find('\n') == beginning.npos && cr != beginning.npos &&
                   cr + 1 < beginning.size();  // what follows the last byte is not known
  return mac ? "\r\n" : "\n";
}

}  // namespace

LineReader::LineReader(const std::string& path) : path_(path), buffer_(kBuffer, '\0') {
  const int fd = ::open(detail::system_path("LineReader", path), O_RDONLY | O_CLOEXEC);
  struct stat info {};
  if (fd < 0 || ::fstat(fd, &info) != 0) cannot("open", path, system_reason());
  if (S_ISDIR(info.st_mode)) {
    ::close(fd);
    cannot("read", path, "it is a folder; name a file");
  }
  file_ = ::gzdopen(fd, "rb");  // reads what is not gzipped as it is
  if (file_ == nullptr) {
    ::close(fd);
    cannot("read", path, "zlib could not start; memory may be exhausted");
  }
}

LineReader::~LineReader() { ::gzclose(static_cast<gzFile>(file_)); }

bool LineReader::fill() {
  auto* file = static_cast<gzFile>(file_);
  const int n = ::gzread(file, buffer_.data(), static_cast<unsigned>(kBuffer));
  int error = Z_OK;
  const char* why = ::gzerror(file, &error);
  if (error == Z_ERRNO) cannot("read", path_, system_reason());
  // zlib gives what it could read before it complains of a stream that ends early.
  if (error == Z_BUF_ERROR && n <= 0) cannot("read", path_, "its gzip stream is cut off");
  if (error != Z_OK && error != Z_BUF_ERROR) {
    cannot("read", path_, fmt::format("its gzip stream is damaged: {}", why));
  }
  at_ = 0;
  filled_ = n > 0 ? static_cast<size_t>(n) : 0;
  if (ends_.empty()) ends_ = ends_of({buffer_.data(), filled_});
  return filled_ > 0;
}

bool LineReader::next() {
  long_line_.clear();
  bool any = false, ended = false;
  while (!ended && (at_ < filled_ || fill())) {
    const std::string_view rest(buffer_.data() + at_, filled_ - at_);
    const size_t end = rest.find_first_of(ends_);
    ended = end != rest.npos;
    line_ = rest.substr(0, end);
    at_ += line_.size() + (ended ? 1 : 0);
    // Only a line that the buffer cuts apart is copied.
    if (any || !ended) {
      long_line_ += line_;
      line_ = long_line_;
    }
    any = true;
  }
  if (!any) {
    line_ = {};
    return false;
  }
  number_ += 1;
  if (number_ == 1 && line_.substr(0, 3) == "\xef\xbb\xbf") line_.remove_prefix(3);
  if (!line_.empty() && line_.back() == '\r') line_.remove_suffix(1);
  return true;
}

std::string LineReader::where() const {
  return number_ == 0 ? fmt::format("'{}'", path_) : fmt::format("'{}' line {}", path_, number_);
}

int64_t LineReader::memory() const {
  return static_cast<int64_t>(buffer_.capacity() + long_line_.capacity());
}

}  // namespace fovea
