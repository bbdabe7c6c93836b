// Every function that ops/ops.h declares has a row in the case table.
#include <gtest/gtest.h>

#include <cctype>
#include <filesystem>
#include <regex>
#include <set>

#include "tests/op_cases/op_case.h"
#include "tests/signatures.h"

namespace {

TEST(Coverage, EveryOperationHasARow) {
  std::set<std::string> names;
  for (const auto& s : fovea::declared_operations()) names.insert(s.name);
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
    const std::string text = fovea::without_comments(file.path().string());
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
