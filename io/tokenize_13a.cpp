// Tokenisation as in NIST's mteval-v13a.pl, language-independent part, then its western one.
#include <array>
#include <utility>

#include "fovea/io/bleu.h"

namespace fovea {
namespace {

std::string replaced(const std::string& s, std::string_view what, std::string_view by) {
  std::string result;
  size_t at = 0;
  for (size_t found; (found = s.find(what, at)) != s.npos; at = found + what.size()) {
    result.append(s, at, found - at).append(by);
  }
  return result.append(s, at);
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_point(char c) { return c == '.' || c == ','; }

// ASCII that is neither letter, digit, ' - , . nor below the space.
bool stands_apart(char c) {
  const auto u = static_cast<unsigned char>(c);
  if (u < ' ' || u > '~' || c == '\'' || c == '-' || is_point(c) || is_digit(c)) return false;
  return !(c >= 'a' && c <= 'z') && !(c >= 'A' && c <= 'Z');
}

// Rewrites every two neighbours a, b that fit, from left to right and none twice, to
// before + a + between + b + after.
template <class Fits>
std::string spaced(const std::string& s, Fits fits, const char* before, const char* between,
                   const char* after) {
  std::string result;
  for (size_t i = 0; i < s.size(); ++i) {
    if (i + 1 < s.size() && fits(s[i], s[i + 1])) {
      result.append(before).append(1, s[i]).append(between).append(1, s[i + 1]).append(after);
      ++i;
    } else {
      result += s[i];
    }
  }
  return result;
}

// How many bytes a white space of Unicode has that begins here; 0 when none does.
size_t space_at(std::string_view s) {
  const char c = s[0];
  if ((c >= '\t' && c <= '\r') || (c >= '\x1c' && c <= ' ')) return 1;
  constexpr std::array<std::string_view, 8> kWide = {"\xc2\x85",     "\xc2\xa0",     "\xe1\x9a\x80",
                                                     "\xe2\x80\xa8", "\xe2\x80\xa9", "\xe2\x80\xaf",
                                                     "\xe2\x81\x9f", "\xe3\x80\x80"};
  for (const std::string_view w : kWide) {
    if (s.substr(0, w.size()) == w) return w.size();
  }
  // U+2000 to U+200A, the spaces of typesetters.
  if (s.size() < 3 || s.substr(0, 2) != "\xe2\x80") return 0;
  const auto last = static_cast<unsigned char>(s[2]);
  return last >= 0x80 && last <= 0x8a ? 3 : 0;
}

// Without the white space at its end.
std::string_view trimmed(std::string_view s) {
  size_t end = 0;
  for (size_t at = 0; at < s.size();) {
    const size_t space = space_at(s.substr(at));
    at += space > 0 ? space : 1;
    if (space == 0) end = at;
  }
  return s.substr(0, end);
}

std::vector<std::string> split_at_spaces(std::string_view s) {
  std::vector<std::string> tokens;
  std::string token;
  const auto finish = [&] {
    if (!token.empty()) tokens.push_back(std::exchange(token, {}));
  };
  while (!s.empty()) {
    const size_t space = space_at(s);
    if (space > 0) {
      finish();
    } else {
      token += s[0];
    }
    s.remove_prefix(space > 0 ? space : 1);
  }
  finish();
  return tokens;
}

}  // namespace

std::vector<std::string> tokenize_13a(std::string_view sentence) {
  std::string s = replaced(std::string(trimmed(sentence)), "<skipped>", "");
  s = replaced(s, "-\n", "");
  s = replaced(s, "\n", " ");
  s = replaced(s, "&quot;", "\"");
  s = replaced(s, "&amp;", "&");
  s = replaced(s, "&lt;", "<");
  s = replaced(s, "&gt;", ">");
  std::string apart = " ";
  for (const char c : s) {
    if (stands_apart(c)) {
      apart.append({' ', c, ' '});
    } else {
      apart += c;
    }
  }
  s = apart + " ";
  s = spaced(
      s, [](char a, char b) { return !is_digit(a) && is_point(b); }, "", " ", " ");
  s = spaced(
      s, [](char a, char b) { return is_point(a) && !is_digit(b); }, " ", " ", "");
  s = spaced(
      s, [](char a, char b) { return is_digit(a) && b == '-'; }, "", " ", " ");
  return split_at_spaces(s);
}

}  // namespace fovea
