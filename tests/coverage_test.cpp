// Every function that ops/ops.h declares has a row in the case table.
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>

#include "tests/op_cases/op_case.h"

namespace {

std::string without_comments(const std::string& path) {
  std::ifstream in(path);
  std::string text, line;
  while (std::getline(in, line)) text += line.substr(0, line.find("//")) + "\n";
  return text;
}

// Names of the free functions in the text of a header: a type at the start of a line, a name, "(".
std::set<std::string> declared(const std::string& text) {
  static const std::regex function(
      R"((?:^|\n)(?:[A-Za-z_][A-Za-z_0-9:]*(?:<[^>\n]*>)?)[ \n]+([a-z_][a-z_0-9]*)\()");
  std::set<std::string> names;
  for (std::sregex_iterator i(text.begin(), text.end(), function), end; i != end; ++i) {
    names.insert((*i)[1]);
  }
  return names;
}

TEST(Coverage, EveryOperationHasARow) {
  const auto names = declared(without_comments(FOVEA_SOURCE_DIR "/ops/ops.h"));
  ASSERT_GT(names.size(), 100u) << "the header was not understood";
  for (const char* known : {"add", "cross_entropy", "from_vector", "allclose", "max", "dropout"}) {
    EXPECT_TRUE(names.count(known)) << known;
  }
  std::set<std::string> rows;
  for (const auto& row : fovea::cases::table()) rows.insert(row.name);
  for (const auto& n : names) {
    EXPECT_TRUE(rows.count(n)) << n << " is declared in ops/ops.h and has no row in tests/op_cases";
  }
  for (const auto& n : rows) {
    EXPECT_TRUE(names.count(n)) << n << " has a row in tests/op_cases and is not declared";
  }
}

}  // namespace
