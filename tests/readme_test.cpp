// The program that README.md shows is the one that is compiled.
#include <gtest/gtest.h>

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

}  // namespace
}  // namespace fovea
