#include "fovea/viz/curve.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <sstream>

#include "fovea/core/error.h"
#include "fovea/viz/svg.h"
#include "fovea/viz/ticks.h"
#include "viz/markup.h"

namespace {

using namespace fovea;
using fovea::testing::expect_well_formed;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// The values of attribute `name` in every element that holds `mark`.
std::vector<std::string> attributes(const std::string& svg, const std::string& name,
                                    const std::string& mark) {
  std::vector<std::string> all;
  std::istringstream lines(svg);  // one element a line
  for (std::string line; std::getline(lines, line);) {
    const size_t at = line.find(" " + name + "=\"");
    if (line.find(mark) == std::string::npos || at == std::string::npos) continue;
    const size_t begin = at + name.size() + 3;
    all.push_back(line.substr(begin, line.find('"', begin) - begin));
  }
  return all;
}

std::vector<std::string> texts(const std::vector<Tick>& ticks) {
  std::vector<std::string> v;
  for (const Tick& t : ticks) v.push_back(t.text);
  return v;
}

TEST(Curve, IsWellFormedForAnyData) {
  const std::vector<double> none, x{1, 2, 3}, gaps{NAN, 2, INFINITY}, flat{5, 5, 5},
      negative{-1, 0, 1}, huge{1e308, -1e308, 1}, tiny{1e-300, 2e-300, 3e-300};
  std::vector<Panel> panels;
  for (bool log : {false, true}) {
    Panel p{"a <title> & \"more\"", "x & y", "'y' <", {}, log};
    for (const auto& y : {gaps, flat, negative, huge, tiny}) p.series.push_back({"s<&>", x, y});
    p.series.push_back({"\xff\x01 caf\xc3\xa9", none, none});
    panels.push_back(p);
    for (const auto& y : {gaps, flat, negative, huge, tiny}) {
      expect_well_formed(draw_curves({{"", "", "", {{"one", x, y}}, log}}));
      expect_well_formed(draw_curves({{"", "", "", {{"one", y, x}}, log}}));
    }
  }
  expect_well_formed(draw_curves(panels, {.title = "<&>\"'", .subtitle = "]]>"}));
  EXPECT_THAT(draw_curves({{"", "", "", {{"none", none, none}}}}), HasSubstr("no data"));
}

TEST(Curve, NamesEachLineOnceInItsColour) {
  const std::vector<double> x{0, 1};
  const std::string svg =
      draw_curves({{"Loss", "epoch", "nats", {{"train", x, {1, 0.5}}, {"test", x, {1, 0.6}}}}},
                  {.title = "Run"});
  expect_well_formed(svg);
  for (const char* part :
       {">train</text>", ">test</text>", ">Loss</text>", ">epoch</text>", ">nats</text>",
        ">Run</text>", "#0072B2", "#D55E00", "fill=\"#FFFFFF\""}) {
    EXPECT_THAT(svg, HasSubstr(part));
  }
}

TEST(Curve, KeepsLabelsApartAndInside) {
  std::vector<Series> series;
  for (int i = 0; i < 8; ++i) series.push_back({"same" + std::to_string(i), {0, 1}, {1, 1}});
  const std::string svg = draw_curves({{"", "", "", series}}, {.height = 300});
  std::vector<double> y;
  for (const std::string& v : attributes(svg, "y", ">same")) y.push_back(std::stod(v));
  ASSERT_EQ(y.size(), 8u);
  std::sort(y.begin(), y.end());
  for (size_t i = 1; i < y.size(); ++i) EXPECT_GE(y[i] - y[i - 1], 14.5);
  EXPECT_GT(y.front(), 20);
  EXPECT_LT(y.back(), 300);
}

TEST(Curve, ThinsLongLinesButKeepsPeaks) {
  Series s{"long", {}, {}};
  for (int i = 0; i < 200'000; ++i) {
    s.x.push_back(i);
    s.y.push_back(i == 77'777 ? 100 : std::sin(i));
  }
  const std::string svg = draw_curves({{"", "", "", {s}}});
  EXPECT_LT(svg.size(), 100'000u);
  // The peak is the highest point: its pixel row is the smallest y of the path.
  const auto path = attributes(svg, "d", "fill=\"none\"");
  ASSERT_EQ(path.size(), 1u);
  std::istringstream points(path[0]);
  double top = 1e9;
  int below = 0;
  for (std::string pair; std::getline(points, pair, 'L');) {
    const double y = std::stod(pair.substr(pair.find(' ')));
    top = std::min(top, y);
    below += y > 200;
  }
  EXPECT_LT(top, 60);
  EXPECT_GT(below, 1000);
}

TEST(Curve, BreaksAtGaps) {
  const std::string svg = draw_curves({{"", "", "", {{"s", {0, 1, 2, 3, 4}, {1, 2, NAN, 2, 1}}}}});
  const std::string d = attributes(svg, "d", "fill=\"none\"").at(0);
  EXPECT_EQ(std::count(d.begin(), d.end(), 'M'), 2);
  EXPECT_EQ(std::count(d.begin(), d.end(), 'L'), 2);
}

TEST(Curve, SaysWhatIsWrong) {
  EXPECT_THROW((void)draw_curves({}), ValueError);
  EXPECT_THROW((void)draw_curves({{"", "", "", {{"s", {1, 2}, {1}}}}}), ValueError);
  EXPECT_THROW((void)draw_curves({{}, {}}, {.width = 599}), ValueError);
  EXPECT_THROW((void)draw_curves({{}}, {.height = 100}), ValueError);
}

TEST(Ticks, AreRoundNumbers) {
  EXPECT_THAT(texts(linear_ticks(0, 1, 5)), ElementsAre("0.0", "0.2", "0.4", "0.6", "0.8", "1.0"));
  EXPECT_THAT(texts(linear_ticks(0.93, 0.99, 3)), ElementsAre("0.94", "0.96", "0.98"));
  EXPECT_THAT(texts(linear_ticks(1, 30, 6)), ElementsAre("5", "10", "15", "20", "25", "30"));
  EXPECT_THAT(texts(linear_ticks(0, 40'000, 4)), ElementsAre("0", "10k", "20k", "30k", "40k"));
  EXPECT_THAT(texts(linear_ticks(-1, 1, 4)), ElementsAre("-1.0", "-0.5", "0.0", "0.5", "1.0"));
  EXPECT_THAT(texts(linear_ticks(0, 9.9e6, 2)), ElementsAre("0", "5e+06"));
  EXPECT_TRUE(linear_ticks(1, 1, 5).empty());
  EXPECT_TRUE(linear_ticks(2, 1, 5).empty());
  EXPECT_TRUE(linear_ticks(0, INFINITY, 5).empty());
  EXPECT_TRUE(linear_ticks(0, NAN, 5).empty());
  EXPECT_TRUE(linear_ticks(1e16, 1e16 + 2, 5).empty());  // below the resolution of doubles
  for (double high = 1e-12; high < 1e12; high *= 1.7) {
    const size_t n = linear_ticks(0, high, 5).size();
    EXPECT_GE(n, 3u) << high;
    EXPECT_LE(n, 9u) << high;
  }
}

TEST(Ticks, ArePowersOfTenOnALogarithmicAxis) {
  EXPECT_THAT(texts(log_ticks(0.03, 1.5, 5)), ElementsAre("0.05", "0.1", "0.2", "0.5", "1"));
  EXPECT_THAT(texts(log_ticks(1e-6, 1, 3)), ElementsAre("1e-06", "0.0001", "0.01", "1"));
  EXPECT_TRUE(log_ticks(0, 1, 5).empty());
  EXPECT_TRUE(log_ticks(NAN, 1, 5).empty());
  EXPECT_LE(log_ticks(1e-300, 1e300, 5).size(), 6u);
}

TEST(Svg, EscapesText) {
  EXPECT_EQ(xml_escape("a<b>&\"'"), "a&lt;b&gt;&amp;&quot;&#39;");
  EXPECT_EQ(xml_escape("caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80"),
            "caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80");
  const std::string bad = "\xEF\xBF\xBD";
  for (const char* s : {"\x01", "\xff", "\x80", "\xc0", "\xc3", "\xed\xa0"}) {
    EXPECT_THAT(xml_escape(s), HasSubstr(bad));
  }
  EXPECT_EQ(xml_escape("\xe2\x82"), bad + bad);
  EXPECT_EQ(xml_escape("\xEF\xBF\xBF"), bad + bad + bad);
  EXPECT_EQ(count_characters("caf\xc3\xa9"), 4);
}

}  // namespace
