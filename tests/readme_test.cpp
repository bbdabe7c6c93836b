// The program that README.md shows is the one that is compiled.
#include <gtest/gtest.h>

#include <filesystem>
#include <regex>
#include <string>

#include "fovea/io/file.h"

namespace fovea {
namespace {

TEST(Readme, ShowsTheProgramThatIsBuilt) {
  const auto text = [](const std::string& path) { return read_file(FOVEA_SOURCE_DIR "/" + path); };
  const std::string program = text("examples/quickstart/main.cpp");
  const std::string code = program.substr(program.find("#include"));
  EXPECT_NE(text("README.md").find("```cpp\n" + code + "```"), std::string::npos)
      << "README.md must hold examples/quickstart/main.cpp from its first #include on";
}

TEST(Readme, NamesFilesThatAreThere) {
  const std::string text = read_file(FOVEA_SOURCE_DIR "/README.md");
  const std::regex link(R"(\]\(([^)# ]+)\))");
  int links = 0;
  for (std::sregex_iterator m(text.begin(), text.end(), link), end; m != end; ++m) {
    const std::string target = (*m)[1];
    if (target.find("://") != std::string::npos) continue;
    ++links;
    EXPECT_TRUE(std::filesystem::exists(std::string(FOVEA_SOURCE_DIR "/") + target)) << target;
  }
  EXPECT_GT(links, 30);
}

}  // namespace
}  // namespace fovea
