#include "fovea/viz/attention_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>

#include "fovea/core/error.h"
#include "fovea/viz/attention_page_parts.h"
#include "fovea/viz/svg.h"
#include "fovea/viz/utf8.h"

namespace fovea {
namespace {

void check_examples(const std::vector<AttentionExample>& examples, const AttentionPageOptions& o) {
  const auto fail = [](const std::string& what) { throw ValueError("attention_page: " + what); };
  if (examples.empty()) fail("there is no example to show");
  const size_t heads = examples[0].weights.size();
  for (size_t i = 0; i < examples.size(); ++i) {
    const AttentionExample& e = examples[i];
    const size_t rows = e.target.size(), columns = e.source.size();
    if (rows == 0 || columns == 0 || e.weights.empty()) {
      fail(
          fmt::format("example {} has {} source tokens, {} target tokens, {} heads; need one of "
                      "each at least",
                      i, columns, rows, e.weights.size()));
    }
    if (e.weights.size() != heads) {
      fail(fmt::format("example {} has {} heads, the first has {}; give as many", i,
                       e.weights.size(), heads));
    }
    for (size_t h = 0; h < heads; ++h) {
      if (e.weights[h].size() != rows * columns) {
        fail(fmt::format("example {}, head {}: {} weights for {} target x {} source tokens", i, h,
                         e.weights[h].size(), rows, columns));
      }
    }
  }
  if (!o.head_names.empty() && o.head_names.size() != heads) {
    fail(fmt::format("{} head_names for {} heads; give none, or one for each", o.head_names.size(),
                     heads));
  }
}

/// Text of an element or an attribute.
std::string shown(const std::string& token) {
  return token.empty() ? "\u2205" : xml_escape(visible_token(token));
}

/// Writes the page from top to bottom.
class Page {
 public:
  explicit Page(const AttentionPageOptions& o) : o_(o) {}

  std::string write(const std::vector<AttentionExample>& examples) {
    begin();
    heads(examples[0].weights.size());
    for (const AttentionExample& e : examples) example(e);
    put("</main>\n<script>{}</script>\n</body>\n</html>\n", kAttentionScript);
    return std::move(out_);
  }

 private:
  template <class... Args>
  void put(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(out_), format, std::forward<Args>(args)...);
  }

  void begin() {
    const std::string title = xml_escape(o_.title);
    put("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n"
        "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n"
        "<title>{}</title>\n<style>body {{ font-family: {}; }}{}</style>\n</head>\n<body>\n<main>\n"
        "<h1>{}</h1>\n",
        title, kSystemFonts, kAttentionStyle, title);
    if (!o_.subtitle.empty()) put("<p class=\"subtitle\">{}</p>\n", xml_escape(o_.subtitle));
    put("<p class=\"hint\">Point at a token, tap it, or walk with Tab and the arrow keys. A click "
        "holds it; Escape lets go.</p>\n<noscript><p class=\"hint\">The weights are shown by a "
        "script, and scripts are off.</p></noscript>\n");
  }

  void heads(size_t count) {
    if (count < 2) return;
    put("<fieldset class=\"heads\"><legend>Attention of</legend>\n");
    const auto choice = [&](int64_t value, const std::string& name) {
      put("<label><input type=\"radio\" name=\"head\" value=\"{}\"{}/><span>{}</span></label>\n",
          value, value < 0 ? " checked=\"checked\"" : "", xml_escape(name));
    };
    choice(-1, "mean");
    for (size_t h = 0; h < count; ++h) {
      choice(static_cast<int64_t>(h),
             o_.head_names.empty() ? fmt::format("head {}", h + 1) : o_.head_names[h]);
    }
    put("</fieldset>\n");
  }

  void example(const AttentionExample& e) {
    ++number_;
    put("<section class=\"example\" aria-labelledby=\"e{0}\">\n<div class=\"head\">"
        "<h2 id=\"e{0}\">{1}</h2>",
        number_, e.title.empty() ? fmt::format("Example {}", number_) : xml_escape(e.title));
    if (e.right.has_value()) {
      put("<span class=\"verdict {}\">{}</span>", *e.right ? "right" : "wrong",
          *e.right ? "\u2713 right" : "\u2717 wrong");
    }
    if (!e.expected.empty()) {
      put("<span class=\"expected\">expected {}</span>", xml_escape(e.expected));
    }
    put("</div>\n<div class=\"body\">\n<div class=\"flow\"><svg class=\"lines\" "
        "aria-hidden=\"true\"></svg>\n");
    tokens("source", o_.source_name, e.source);
    tokens("target", o_.target_name, e.target);
    put("</div>\n<div class=\"map\"><canvas role=\"img\" aria-label=\"heat map: {} rows of {}, {} "
        "columns of {}\"></canvas></div>\n</div>\n"
        "<p class=\"reading\" aria-live=\"polite\"></p>\n<script type=\"application/json\">",
        e.target.size(), xml_escape(o_.target_name), e.source.size(), xml_escape(o_.source_name));
    weights(e);
    put("</script>\n</section>\n");
  }

  void tokens(const char* side, const std::string& name, const std::vector<std::string>& list) {
    put("<div class=\"row {1}\" role=\"group\" aria-label=\"{0}\"><span class=\"side\">{0}</span>"
        "<div class=\"tokens\">\n",
        xml_escape(name), side);
    for (const std::string& token : list) {
      put("<button type=\"button\" class=\"token\">{}</button>\n", shown(token));
    }
    put("</div></div>\n");
  }

  void weights(const AttentionExample& e) {
    for (size_t h = 0; h < e.weights.size(); ++h) {
      put("{}[", h == 0 ? "[" : ",");
      for (size_t i = 0; i < e.weights[h].size(); ++i) {
        const float w = e.weights[h][i];
        const long thousandths = std::isnan(w) ? -1 : std::lround(1000 * std::clamp(w, 0.f, 1.f));
        put("{}{}", i == 0 ? "" : ",", thousandths);
      }
      put("]");
    }
    put("]");
  }

  const AttentionPageOptions& o_;
  std::string out_;
  int64_t number_ = 0;
};

}  // namespace

std::string attention_page(const std::vector<AttentionExample>& examples,
                           const AttentionPageOptions& options) {
  check_examples(examples, options);
  return Page(options).write(examples);
}

}  // namespace fovea
