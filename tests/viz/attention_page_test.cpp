#include "fovea/viz/attention_page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "fovea/core/error.h"
#include "viz/markup.h"

namespace {

using namespace fovea;
using fovea::testing::expect_well_formed;
using fovea::testing::occurrences;
using ::testing::HasSubstr;
using ::testing::Not;

AttentionExample example() {
  return {"night", {"n", "i", "t"}, {"N", "AY1"}, {{0.9f, 0.1f, 0, 0, 1, 0}}, "", {}};
}

/// The page without its doctype and what stands inside <style> and <script>.
std::string markup_of(std::string page) {
  for (const std::string name : {"style", "script"}) {
    const std::string end = "</" + name + ">";
    for (size_t at = 0; (at = page.find("<" + name, at)) != std::string::npos; ++at) {
      const size_t inside = page.find('>', at) + 1;
      page.erase(inside, page.find(end, inside) - inside);
    }
  }
  const std::string doctype = "<!doctype html>\n";
  EXPECT_EQ(page.find(doctype), 0u);
  return page.substr(doctype.size());
}

std::string page_message(const std::vector<AttentionExample>& examples,
                         const AttentionPageOptions& o = {}) {
  try {
    (void)attention_page(examples, o);
  } catch (const ValueError& e) {
    return e.what();
  }
  return "no error";
}

TEST(AttentionPage, ShowsTokensAndWeights) {
  const std::string page = attention_page(
      {example()},
      {.title = "Sounds", .subtitle = "a GRU", .source_name = "letters", .target_name = "sounds"});
  expect_well_formed(markup_of(page));
  for (const char* token : {"n", "i", "t", "N", "AY1"}) {
    EXPECT_EQ(occurrences(page, std::string("class=\"token\">") + token + "</button>"), 1u)
        << token;
  }
  EXPECT_LT(page.find(">t</button>"), page.find(">N</button>"));
  EXPECT_THAT(page, HasSubstr("<script type=\"application/json\">[[900,100,0,0,1000,0]]</script>"));
  for (const char* part : {"<title>Sounds</title>", "<h1>Sounds</h1>", ">a GRU<", ">night</h2>",
                           "aria-label=\"letters\"", "aria-label=\"sounds\"",
                           "heat map: 2 rows of sounds, 3 columns of letters"}) {
    EXPECT_THAT(page, HasSubstr(part));
  }
  EXPECT_THAT(page, Not(HasSubstr("<fieldset"))) << "one head leaves nothing to choose";
}

TEST(AttentionPage, NeedsNothingFromElsewhere) {
  std::string page = attention_page({example()});
  const std::string svg = "http://www.w3.org/2000/svg";  // a name, which is never fetched
  ASSERT_EQ(occurrences(page, svg), 1u);
  page.erase(page.find(svg), svg.size());
  for (const char* part : {"http", "src=", "href=", "url(", "@import", "fetch(", "innerHTML"}) {
    EXPECT_THAT(page, Not(HasSubstr(part)));
  }
  EXPECT_LT(page.size(), 20'000u);
}

TEST(AttentionPage, KeepsThreeDigits) {
  AttentionExample e = example();
  e.weights[0] = {0.1234f, 0.9996f, -2, 7, INFINITY, NAN};
  EXPECT_THAT(attention_page({e}), HasSubstr(">[[123,1000,0,1000,1000,-1]]<"));
}

TEST(AttentionPage, OffersHeads) {
  AttentionExample e = example();
  e.weights.push_back({0, 0, 1, 0.5f, 0.5f, 0});
  std::string page = attention_page({e, e});
  expect_well_formed(markup_of(page));
  EXPECT_THAT(page, HasSubstr("[[900,100,0,0,1000,0],[0,0,1000,500,500,0]]"));
  EXPECT_EQ(occurrences(page, "type=\"radio\""), 3u);
  EXPECT_THAT(page, HasSubstr("value=\"-1\" checked=\"checked\"/><span>mean<"));
  EXPECT_THAT(page, HasSubstr("value=\"1\"/><span>head 2<"));
  page = attention_page({e}, {.head_names = {"near", "<far>"}});
  EXPECT_THAT(page, HasSubstr("<span>&lt;far&gt;<"));
}

TEST(AttentionPage, GivesTheVerdict) {
  AttentionExample right = example(), wrong = example();
  right.right = true;
  wrong.right = false;
  wrong.expected = "N AY1 T";
  const std::string page = attention_page({right, wrong, example()});
  expect_well_formed(markup_of(page));
  EXPECT_EQ(occurrences(page, "class=\"verdict "), 2u);
  EXPECT_LT(page.find("class=\"verdict right\">\u2713 right<"),
            page.find("class=\"verdict wrong\">\u2717 wrong<"));
  EXPECT_EQ(occurrences(page, ">expected "), 1u);
  EXPECT_THAT(page, HasSubstr(">expected N AY1 T<"));
}

TEST(AttentionPage, LetsNoTokenBreakOut) {
  const std::string bad = "</button></script><script>alert(1)</script><!--\"'&\u2028\x01\xff";
  const std::vector<std::string> pair{bad, bad};
  AttentionExample e{bad, pair, pair, {{1, 0, 0, 1}, {1, 0, 0, 1}}, bad, false};
  const AttentionPageOptions o{bad, bad, bad, bad, pair};
  const std::string page = attention_page({e}, o), plain = attention_page({example()});
  expect_well_formed(markup_of(page));
  EXPECT_EQ(occurrences(page, "<script"), occurrences(plain, "<script"));
  EXPECT_EQ(occurrences(page, "</script"), occurrences(plain, "</script"));
  EXPECT_EQ(occurrences(page, "<!--"), 0u);
  EXPECT_EQ(occurrences(page, "&lt;script&gt;alert"), 17u)
      << "4 tokens, 2 heads, 2 titles of the page, 3 for each axis, one each for the others";
}

TEST(AttentionPage, ShowsSpacesAndEmptyTokens) {
  AttentionExample e = example();
  e.source = {" ", "", "a b"};
  const std::string page = attention_page({e});
  EXPECT_THAT(page, HasSubstr(">\u2423</button>"));
  EXPECT_THAT(page, HasSubstr(">\u2205</button>"));
  EXPECT_THAT(page, HasSubstr(">a b</button>"));
}

TEST(AttentionPage, SaysWhatIsWrong) {
  EXPECT_THAT(page_message({}), HasSubstr("there is no example"));
  AttentionExample e = example();
  e.source.clear();
  EXPECT_THAT(page_message({example(), e}), HasSubstr("example 1 has 0 source tokens, 2 target"));
  e = example();
  e.weights.clear();
  EXPECT_THAT(page_message({e}), HasSubstr("0 heads"));
  e = example();
  e.weights.push_back({1});
  EXPECT_THAT(page_message({example(), e}), HasSubstr("example 1 has 2 heads, the first has 1"));
  EXPECT_THAT(page_message({e}), HasSubstr("example 0, head 1: 1 weights for 2 target x 3 source"));
  EXPECT_THAT(page_message({example()}, {.head_names = {"a", "b"}}),
              HasSubstr("2 head_names for 1"));
}

}  // namespace
