// Every function that ops/ops.h declares has a row in the case table.
#include <gtest/gtest.h>

#include <cctype>
#include <filesystem>
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
    if (std::isupper(static_cast<unsigned char>(n[0]))) continue;  // a layer
    EXPECT_TRUE(names.count(n)) << n << " has a row in tests/op_cases and is not declared";
  }
}

// Layers: what derives from Module, and the structs of activation.h.
TEST(Coverage, EveryLayerHasARow) {
  static const std::regex layer(R"((?:class|struct) (\w+) : public Module|\nstruct (\w+) \{\n)");
  std::set<std::string> names;
  for (const auto& file : std::filesystem::recursive_directory_iterator(FOVEA_SOURCE_DIR "/nn")) {
    if (file.path().extension() != ".h") continue;
    const std::string text = without_comments(file.path().string());
    const bool objects = file.path().filename() == "activation.h";
    for (std::sregex_iterator i(text.begin(), text.end(), layer), end; i != end; ++i) {
      if ((*i)[1].matched) names.insert((*i)[1]);
      if ((*i)[2].matched && objects) names.insert((*i)[2]);
    }
  }
  for (const char* known : {"Linear", "Sequential", "GELU"})
    EXPECT_TRUE(names.count(known)) << known;
  std::set<std::string> rows;
  for (const auto& row : fovea::cases::table()) rows.insert(row.name);
  for (const auto& n : names) {
    EXPECT_TRUE(rows.count(n)) << n << " is a layer of nn/ and has no row in tests/op_cases";
  }
}

}  // namespace
