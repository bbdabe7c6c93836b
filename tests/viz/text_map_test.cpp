#include "fovea/viz/text_map.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <sstream>

#include "fovea/core/error.h"
#include "fovea/viz/color_map.h"
#include "fovea/viz/utf8.h"

namespace {

using namespace fovea;
using ::testing::HasSubstr;

std::string text_message(const HeatMap& map, const TextMapOptions& o = {}) {
  try {
    (void)text_map(map, o);
  } catch (const ValueError& e) {
    return e.what();
  }
  return "no error";
}

/// Twelve columns, of which each row looks at the one of its own number.
HeatMap wide() {
  HeatMap m;
  for (int i = 0; i < 12; ++i) {
    m.row_labels.push_back("r" + std::to_string(i));
    m.column_labels.push_back("c" + std::to_string(i));
    for (int j = 0; j < 12; ++j) m.values.push_back(i == j);
  }
  return m;
}

TEST(TextMap, DrawsShadesAndMarksTheStrongest) {
  HeatMap m{"night",
            {0.9,  0.1,  0,    0,    0,         //
             0,    0.5,  0.25, 0.25, NAN,       //
             0.12, 0.13, 0.37, 0.38, 0,         //
             0,    0,    0,    0,    INFINITY,  //
             0,    0,    -1,   0,    0},
            {"N", "AY1", "T", "</s>", ""},
            {"n", "i", "g", "h", "t"}};
  EXPECT_EQ(text_map(m),
            "night\n"
            "      n i g h t\n"
            "   N [█]\n"
            " AY1   [▒]░ ░ ?\n"
            "   T    ░ ░[▒]\n"
            "</s>         [█]\n"
            "\n");
  EXPECT_EQ(text_map(m, {.ascii = true}),
            "night\n"
            "      n i g h t\n"
            "   N [#]\n"
            " AY1   [:]. . ?\n"
            "   T    . .[:]\n"
            "</s>         [#]\n"
            "\n");
  EXPECT_EQ(text_map({"", {0.6, 0.9}, {}, {}, 1, 2}, {.low = 0.5, .high = 1}), " ░[▓]\n");
  EXPECT_EQ(text_map({"", {3, 3}, {}, {}, 1, 2}), "[█]█\n") << "the first of equals";
}

TEST(TextMap, WritesShortNamesLevelAndLongOnesUpright) {
  const std::vector<double> eye{1, 0, 0, 0, 0, 1};
  EXPECT_EQ(text_map({"", eye, {"le", "chat"}, {"the", "a", "cat"}}),
            "      the  a  cat\n"
            "  le [███]\n"
            "chat         [███]\n");
  EXPECT_EQ(text_map({"", eye, {"le", "chat"}, {"a", "cat", "agreement of the"}}),
            "          a\n"
            "          g\n"
            "          r\n"
            "          e\n"
            "          e\n"
            "          m\n"
            "          e\n"
            "        c n\n"
            "        a t\n"
            "      a t …\n"
            "  le [█]\n"
            "chat     [█]\n");
}

TEST(TextMap, AlignsWideAndCombiningCharacters) {
  EXPECT_EQ(text_map({"", {1, 0, 0, 1}, {"日本", "e\u0301t"}, {"日", "e\u0301"}}),
            "      日 e\u0301\n"
            "日本 [██]\n"
            "  e\u0301t    [██]\n");
}

TEST(TextMap, CutsWhatIsTooWideAndSaysSo) {
  EXPECT_EQ(text_map(wide(), {.width = 20, .ascii = true}),
            "     c c c c c\n"
            "     0 1 2 3 4\n"
            " r0 [#]        ...\n"
            " r1   [#]      ...\n"
            " r2     [#]    ...\n"
            " r3       [#]  ...\n"
            " r4         [#]...\n"
            " r5           [...]\n"
            " r6           [...]\n"
            " r7           [...]\n"
            " r8           [...]\n"
            " r9           [...]\n"
            "r10           [...]\n"
            "r11           [...]\n"
            "... the first 5 of 12 columns; a width of 29 shows all\n");
  EXPECT_THAT(text_map(wide(), {.width = 29}), ::testing::Not(HasSubstr("the first")));
  HeatMap m = wide();
  m.title = m.row_labels[3] = std::string(300, 'x');
  for (bool ascii : {false, true}) {
    for (bool color : {false, true}) {
      for (int64_t width : {20, 21, 27, 40}) {
        std::istringstream lines(text_map(m, {.width = width, .ascii = ascii, .color = color}));
        for (std::string line; std::getline(lines, line);) {
          if (line.find("the first") != std::string::npos) continue;
          for (size_t at; (at = line.find('\x1b')) != std::string::npos;) {
            line.erase(at, line.find('m', at) - at + 1);
          }
          EXPECT_LE(column_count(line), width) << line;
        }
      }
    }
  }
}

TEST(TextMap, ColoursCellsWhenAsked) {
  const Color c = sequential_color(0.5);
  const std::string cell = "\x1b[48;2;" + std::to_string(c.r) + ";" + std::to_string(c.g) + ";" +
                           std::to_string(c.b) + "m  \x1b[0m";
  EXPECT_EQ(text_map({"", {NAN, 0.5}, {}, {}, 1, 2}, {.color = true}), " ??[" + cell + "]\n");
}

TEST(TextMap, LetsNoControlCharacterThrough) {
  const std::string text = text_map({"\x1b[2J", {1, 0}, {"a\nb"}, {"\x1b[31m", "\u202e"}});
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
  EXPECT_THAT(text, HasSubstr("a\uFFFDb [█"));
  EXPECT_EQ(text.find("\u202e"), std::string::npos);
  EXPECT_THAT(text_map({"", {1}, {" "}, {}, 0, 1}, {.ascii = true}), HasSubstr("_ [#]"));
}

TEST(TextMap, SaysWhatIsWrong) {
  EXPECT_THAT(text_message({}), HasSubstr("text_map: 0 rows x 0 columns"));
  EXPECT_THAT(text_message({"", {1, 2, 3}, {"a"}, {"b", "c"}}),
              HasSubstr("3 values for 1 rows x 2"));
  EXPECT_THAT(text_message(wide(), {.width = 19}), HasSubstr("width 19; need 20"));
  EXPECT_THAT(text_message(wide(), {.low = 2}), HasSubstr("the range is 2 to 1"));
}

TEST(Utf8, ReadsCharacters) {
  const auto code = [](std::string_view s) { return character_at(s, 0).code; };
  EXPECT_EQ(code("a"), U'a');
  EXPECT_EQ(code("\u00e9"), U'\u00e9');
  EXPECT_EQ(code("\u20ac"), U'\u20ac');
  EXPECT_EQ(code("\U0001F600"), U'\U0001F600');
  EXPECT_EQ(character_at("\U0001F600", 0).length, 4u);
  for (const char* edge :
       {"\u0080", "\u07ff", "\u0800", "\ud7ff", "\ue000", "\uffff", "\U00010000", "\U0010ffff"}) {
    EXPECT_TRUE(character_at(edge, 0).valid) << edge;
  }
  // Cut off, overlong, a surrogate, beyond Unicode, a byte from within.
  for (const char* bad : {"\xe2\x82", "\xc1\xbf", "\xe0\x9f\xbf", "\xed\xa0\x80", "\xed\xbf\xbf",
                          "\xf4\x90\x80\x80", "\xf0\x8f\xbf\xbf", "\x80", "\xff"}) {
    const Character c = character_at(bad, 0);
    EXPECT_FALSE(c.valid) << bad;
    EXPECT_EQ(c.length, 1u);
    EXPECT_EQ(c.code, U'\uFFFD');
  }
}

TEST(Utf8, CountsColumnsAndCuts) {
  EXPECT_EQ(column_count(""), 0);
  EXPECT_EQ(column_count("caf\u00e9"), 4);
  EXPECT_EQ(column_count("cafe\u0301\u200d"), 4);
  EXPECT_EQ(column_count("日本\U0001F600한"), 8);
  EXPECT_EQ(cut_to_columns("abcdef", 6, "…"), "abcdef");
  EXPECT_EQ(cut_to_columns("abcdefg", 6, "…"), "abcde…");
  EXPECT_EQ(cut_to_columns("日本語", 4, "…"), "日…");
  EXPECT_EQ(cut_to_columns("e\u0301e\u0301e\u0301", 2, "…"), "e\u0301…");
  EXPECT_EQ(cut_to_columns("abcdefg", 2, "..."), "ab");
}

}  // namespace
