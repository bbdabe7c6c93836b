// Every function that ops/ops.h declares has a row in the case table, and rows of it try sizes of
// 0, 1 and many, and its gradient.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <functional>
#include <map>
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

// Layers: what derives from Module or from one of its abstract kinds, and the structs of
// activation.h.
TEST(Coverage, EveryLayerHasARow) {
  const std::set<std::string> abstract{"LanguageModel",  "Score",   "Recurrent",
                                       "RecurrentCell",  "Encoder", "EncoderDecoder",
                                       "SourceAttention"};
  std::string bases = "Module";
  for (const std::string& kind : abstract) bases += "|" + kind;
  const std::regex layer(R"((?:class|struct) (\w+) : public (?:)" + bases +
                         R"()\b|\nstruct (\w+) \{\n)");
  std::set<std::string> names;
  for (const auto& file : std::filesystem::recursive_directory_iterator(FOVEA_SOURCE_DIR "/nn")) {
    if (file.path().extension() != ".h") continue;
    const std::string text = fovea::without_comments(file.path().string());
    const bool objects = file.path().filename() == "activation.h";
    for (std::sregex_iterator i(text.begin(), text.end(), layer), end; i != end; ++i) {
      if ((*i)[1].matched && !abstract.count((*i)[1])) names.insert((*i)[1]);
      if ((*i)[2].matched && objects) names.insert((*i)[2]);
    }
  }
  for (const char* known : {"Linear", "Sequential", "GELU", "GPT"})
    EXPECT_TRUE(names.count(known)) << known;
  std::set<std::string> rows;
  for (const auto& row : fovea::cases::table()) rows.insert(row.name);
  for (const auto& n : names) {
    EXPECT_TRUE(rows.count(n)) << n << " is a layer of nn/ and has no row in tests/op_cases";
  }
}

using fovea::Shape;
using fovea::cases::OpCase;
using Rows = std::function<bool(const OpCase&)>;
using Excuses = std::map<std::string, std::string>;  // of a name, and why

// Every name with rows that are `meant` has one that `tries`, or an excuse. One excuse too many is
// as wrong as one that is missing.
void expect_tried(const std::string& what, const Rows& meant, const Rows& tries,
                  const Excuses& excused = {}) {
  std::set<std::string> lacking;
  for (const OpCase& row : fovea::cases::table()) {
    if (meant(row)) lacking.insert(row.name);
  }
  ASSERT_GT(lacking.size(), 100u) << what;
  for (const OpCase& row : fovea::cases::table()) {
    if (tries(row)) lacking.erase(row.name);
  }
  for (const std::string& n : lacking) {
    EXPECT_TRUE(excused.count(n)) << n << " has no row with " << what << " in tests/op_cases";
  }
  for (const auto& [n, why] : excused) {
    EXPECT_TRUE(lacking.count(n)) << n << " needs no excuse, it has a row with " << what << ": "
                                  << why;
  }
}

bool takes_tensors(const OpCase& row) { return !row.inputs.empty(); }

Rows any_axis_of(std::vector<Shape> OpCase::*shapes, int64_t size) {
  return [=](const OpCase& row) {
    return std::any_of((row.*shapes).begin(), (row.*shapes).end(), [&](const Shape& s) {
      return std::find(s.begin(), s.end(), size) != s.end();
    });
  };
}

TEST(Coverage, EveryNameIsTriedOnAxesOfSizeOne) {
  expect_tried("axes of size 1", takes_tensors, any_axis_of(&OpCase::one, 1));
}

TEST(Coverage, EveryNameIsTriedOnNoElements) {
  expect_tried("a size of 0", takes_tensors, any_axis_of(&OpCase::zero, 0));
}

TEST(Coverage, EveryNameIsTriedOnManyElements) {
  expect_tried("work for every thread", takes_tensors,
               [](const OpCase& row) { return !row.big.empty(); });
}

TEST(Coverage, EveryFunctionFromFloatsToFloatsHasAGradient) {
  const auto floats = [](const OpCase& row) {
    const bool in = std::any_of(row.inputs.begin(), row.inputs.end(),
                                [](const auto& s) { return s.dtype == fovea::f64; });
    return in && (!row.result || fovea::is_floating(*row.result));
  };
  const std::string shape = "takes the shape alone", draw = "a draw has no gradient";
  expect_tried("a gradient", floats, [](const OpCase& row) { return row.has_gradient(); },
               {{"zeros_like", shape},
                {"ones_like", shape},
                {"full_like", shape},
                {"empty_like", shape},
                {"rand_like", shape},
                {"randn_like", shape},
                {"bernoulli", draw}});
}

}  // namespace
