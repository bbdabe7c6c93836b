// Text files a line at a time, of any size, gzipped or not.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace fovea {

/// Memory: a buffer of 64 KiB and the longest line.
class LineReader {
 public:
  /// IoError when the file cannot be opened; it names the file and the system's reason.
  explicit LineReader(const std::string& path);
  ~LineReader();
  LineReader(const LineReader&) = delete;
  LineReader& operator=(const LineReader&) = delete;

  /// Goes to the next line; false after the last, which needs no newline at its end. A carriage
  /// return before the newline and a byte order mark before the first line are left out. A lone
  /// carriage return is part of its line, unless it ends the lines of the file, as on old Macs:
  /// that is so when one, and no newline, stands in the first 64 KiB. IoError when reading fails or
  /// a gzip stream is damaged or cut off.
  bool next();
  /// Without its end; valid until next().
  std::string_view line() const { return line_; }
  int64_t number() const { return number_; }  ///< of the line, from 1
  std::string where() const;  ///< "'PATH' line N", for messages; "'PATH'" before the first
  /// Bytes that this holds now.
  int64_t memory() const;

 private:
  bool fill();
  std::string path_, buffer_, long_line_;
  std::string_view line_;
  std::string_view ends_ = {};  // the bytes that end a line, known once the file has been begun
  size_t at_ = 0, filled_ = 0;  // in buffer_: what is not used yet
  int64_t number_ = 0;
  void* file_ = nullptr;  // gzFile
};

}  // namespace fovea
