#include "fovea/io/metrics.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "temp_dir.h"

namespace {

using namespace fovea;
using fovea::testing::slurp;
using fovea::testing::TempDir;
using ::testing::ElementsAre;

TEST(Metrics, WritesKeysInOrder) {
  Metrics m;
  m.set("zeta", 0.1);
  m.set("alpha", 3);
  m.set("ok", true);
  m.set("name", "line\n\"two\"");
  m.set("bad", std::nan(""));
  m.set("loss", std::vector<double>{1, 0.5, INFINITY});
  m.set("big", int64_t{9007199254740993});
  m.set("alpha", 4);
  const auto j = nlohmann::ordered_json::parse(m.json());
  std::vector<std::string> keys;
  for (const auto& [key, value] : j.items()) keys.push_back(key);
  EXPECT_THAT(keys, ElementsAre("zeta", "alpha", "ok", "name", "bad", "loss", "big"));
  EXPECT_EQ(j["zeta"], 0.1);
  EXPECT_EQ(j["alpha"], 4);
  EXPECT_EQ(j["ok"], true);
  EXPECT_EQ(j["name"], "line\n\"two\"");
  EXPECT_TRUE(j["bad"].is_null());
  EXPECT_EQ(j["loss"][1], 0.5);
  EXPECT_TRUE(j["loss"][2].is_null());
  EXPECT_EQ(j["big"].get<int64_t>(), 9007199254740993);
}

TEST(Metrics, WritesAFile) {
  const TempDir dir;
  Metrics m;
  m.write(dir / "metrics.json");
  EXPECT_EQ(slurp(dir / "metrics.json"), "{}\n");
  m.set("text", "\xff!");
  m.write(dir / "metrics.json");
  EXPECT_EQ(nlohmann::json::parse(slurp(dir / "metrics.json"))["text"], "\xef\xbf\xbd!");
  EXPECT_THAT(dir.list(), ElementsAre("metrics.json"));
}

}  // namespace
