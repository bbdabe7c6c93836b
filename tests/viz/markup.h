// What every SVG, and the markup of every page, must be.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <string>
#include <vector>

namespace fovea::testing {

inline size_t occurrences(const std::string& text, const std::string& part) {
  size_t n = 0;
  for (size_t at = 0; (at = text.find(part, at)) != std::string::npos; at += part.size()) ++n;
  return n;
}

inline void expect_text(const std::string& text) {
  EXPECT_EQ(text.find_first_of("<>\""), std::string::npos) << text;
  for (size_t at = text.find('&'); at != std::string::npos; at = text.find('&', at + 1)) {
    const std::string entity = text.substr(at + 1, text.find(';', at) - at - 1);
    EXPECT_THAT(entity, ::testing::AnyOf("amp", "lt", "gt", "quot", "#39"));
  }
}

/// ` name="text"`, any number of times.
inline void expect_attributes(const std::string& s) {
  size_t at = 0;
  while ((at = s.find_first_not_of(" \n", at)) != std::string::npos) {
    const size_t equals = s.find("=\"", at);
    ASSERT_NE(equals, std::string::npos) << s;
    const std::string name = s.substr(at, equals - at);
    EXPECT_TRUE(std::all_of(name.begin(), name.end(), [](char c) {
      return std::isalpha(static_cast<unsigned char>(c)) || c == '-';
    })) << name;
    const size_t end = s.find('"', equals + 2);
    ASSERT_NE(end, std::string::npos) << s;
    expect_text(s.substr(equals + 2, end - equals - 2));
    at = end + 1;
  }
}

/// Every element is closed in order, attributes are quoted, and text is escaped.
inline void expect_well_formed(const std::string& svg) {
  std::vector<std::string> open;
  size_t at = 0;
  while (at < svg.size()) {
    const size_t tag = svg.find('<', at);
    expect_text(svg.substr(at, tag - at));
    if (tag == std::string::npos) break;
    const size_t end = svg.find('>', tag);
    ASSERT_NE(end, std::string::npos);
    std::string inside = svg.substr(tag + 1, end - tag - 1);
    at = end + 1;
    if (inside[0] == '/') {
      ASSERT_FALSE(open.empty());
      EXPECT_EQ(open.back(), inside.substr(1));
      open.pop_back();
      continue;
    }
    const bool closed = inside.back() == '/';
    if (closed) inside.pop_back();
    const std::string name = inside.substr(0, inside.find_first_of(" \n"));
    expect_attributes(inside.substr(name.size()));
    if (!closed) open.push_back(name);
  }
  EXPECT_TRUE(open.empty());
  EXPECT_THAT(svg, ::testing::Not(::testing::HasSubstr("nan")));
  EXPECT_THAT(svg, ::testing::Not(::testing::HasSubstr("inf")));
}

}  // namespace fovea::testing
