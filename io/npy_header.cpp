#include "fovea/io/npy_header.h"

#include <fmt/format.h>

#include <charconv>
#include <system_error>

#include "fovea/io/unexpected.h"

namespace fovea::npy {
namespace {

using detail::unexpected;

/// Consumes the text token by token. Python would also take escapes, comments and expressions;
/// NumPy writes none.
class Parser {
 public:
  Parser(std::string_view text, const std::string& where) : text_(text), where_(where) {}

  Header parse() {
    Header h;
    bool descr = false, order = false, shape = false;
    expect("'{'", '{');
    while (!accept('}')) {
      const std::string_view key = text("a key in quotes");
      expect("':' after a key", ':');
      if (key == "descr") {
        once(key, descr);
        h.descr = text("a dtype in quotes, as '<f4' (structured dtypes are not read),");
      } else if (key == "fortran_order") {
        once(key, order);
        h.fortran_order = truth();
      } else if (key == "shape") {
        once(key, shape);
        h.shape = sizes();
      } else {
        unexpected(where_, "the keys descr, fortran_order and shape in the header",
                   detail::quoted(key));
      }
      if (accept(',')) continue;
      expect("',' or '}'", '}');
      break;
    }
    skip_space();
    if (at_ != text_.size()) fail("nothing after the '}'");
    if (!descr || !order || !shape) {
      unexpected(where_, "the keys descr, fortran_order and shape in the header",
                 fmt::format("no {}", !descr   ? "descr"
                                      : !order ? "fortran_order"
                                               : "shape"));
    }
    return h;
  }

 private:
  [[noreturn]] void fail(std::string_view expected) const {
    const std::string_view rest = text_.substr(at_);
    unexpected(where_, fmt::format("{} at byte {} of the header", expected, at_),
               rest.empty() ? "its end" : detail::quoted(rest));
  }

  void once(std::string_view key, bool& seen) const {
    if (seen)
      unexpected(where_, "keys that occur once in the header", detail::quoted(key) + " twice");
    seen = true;
  }

  void skip_space() {
    while (at_ < text_.size() && std::string_view(" \t\r\n\f").find(text_[at_]) != text_.npos) {
      ++at_;
    }
  }

  bool accept(char c) {
    skip_space();
    if (at_ == text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  void expect(std::string_view what, char c) {
    if (!accept(c)) fail(what);
  }

  bool accept_word(std::string_view word) {
    skip_space();
    if (text_.substr(at_, word.size()) != word) return false;
    at_ += word.size();
    return true;
  }

  std::string_view text(std::string_view what) {
    skip_space();
    const char quote = at_ < text_.size() ? text_[at_] : '\0';
    if (quote != '\'' && quote != '"') fail(what);
    const size_t end = text_.find(quote, at_ + 1);
    const std::string_view inside = text_.substr(at_ + 1, end - at_ - 1);
    if (end == text_.npos || inside.find_first_of("\\\n") != inside.npos) fail(what);
    at_ = end + 1;
    return inside;
  }

  bool truth() {
    if (accept_word("True")) return true;
    if (!accept_word("False")) fail("True or False");
    return false;
  }

  Shape sizes() {
    Shape shape;
    expect("'(' before the shape", '(');
    while (!accept(')')) {
      if (shape.rank() == kMaxRank) fail(fmt::format("a shape of at most {} sizes", kMaxRank));
      shape.push_back(size());
      if (accept(',')) continue;
      if (shape.rank() == 1) fail("',' after the only size");
      expect("',' or ')' after a size", ')');
      break;
    }
    return shape;
  }

  int64_t size() {
    skip_space();
    int64_t n = 0;
    const char* begin = text_.data() + at_;
    const auto [end, error] = std::from_chars(begin, text_.data() + text_.size(), n);
    if (error == std::errc::result_out_of_range) fail("a size below 2^63");
    if (error != std::errc() || *begin == '-') fail("a size from 0");
    at_ += static_cast<size_t>(end - begin);
    if (at_ < text_.size() && text_[at_] == 'L') ++at_;  // Python 2 wrote long integers as 3L
    return n;
  }

  std::string_view text_;
  const std::string& where_;
  size_t at_ = 0;
};

}  // namespace

Header parse_header(std::string_view text, const std::string& where) {
  return Parser(text, where).parse();
}

}  // namespace fovea::npy
