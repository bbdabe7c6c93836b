#include "tests/signatures.h"

#include <fstream>
#include <regex>

namespace fovea {
namespace {

// The text from `at` up to the bracket that closes the list, cut at its commas.
std::vector<std::string> arguments(const std::string& text, size_t at) {
  std::vector<std::string> parts(1);
  for (int depth = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (c == ')' && depth == 0) break;
    depth += c == '(' || c == '<' || c == '{' ? 1 : c == ')' || c == '>' || c == '}' ? -1 : 0;
    if (c == ',' && depth == 0) {
      parts.emplace_back();
    } else {
      parts.back() += c == '\n' ? ' ' : c;
    }
  }
  return parts;
}

Parameter parameter(const std::string& text) {
  static const std::regex form(R"(\s*(.*?[ &*])\s*([A-Za-z_]\w*)\s*(=.*)?)");
  std::smatch m;
  if (!std::regex_match(text, m, form)) return {};
  return {m[1], m[2], m[3].matched};
}

}  // namespace

std::string without_comments(const std::string& path) {
  std::ifstream in(path);
  std::string text, line;
  while (std::getline(in, line)) text += line.substr(0, line.find("//")) + "\n";
  return text;
}

const std::vector<Signature>& declared_operations() {
  static const std::vector<Signature> all = [] {
    const std::string text = without_comments(FOVEA_SOURCE_DIR "/ops/ops.h");
    // a type at the start of a line, a name, "("
    const std::regex function(
        R"((?:^|\n)(?:[A-Za-z_][A-Za-z_0-9:]*(?:<[^>\n]*>)?)[ \n]+([a-z_][a-z_0-9]*)\()");
    std::vector<Signature> found;
    for (std::sregex_iterator i(text.begin(), text.end(), function), end; i != end; ++i) {
      Signature s{(*i)[1], {}};
      for (const auto& part : arguments(text, static_cast<size_t>(i->position() + i->length()))) {
        s.parameters.push_back(parameter(part));
      }
      found.push_back(std::move(s));
    }
    return found;
  }();
  return all;
}

}  // namespace fovea
