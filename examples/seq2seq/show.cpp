#include "examples/seq2seq/show.h"

#include <fmt/format.h>

#include <algorithm>

#include "examples/common/output.h"
#include "fovea/io/file.h"
#include "fovea/io/png.h"
#include "fovea/ops/ops.h"
#include "fovea/viz/heat_map.h"
#include "fovea/viz/text_map.h"
#include "fovea/viz/utf8.h"

namespace fovea::seq2seq {
namespace {

// The heads side by side say where each looked; their mean, where the model did.
HeatMap mean_map(const Shown& s) {
  const std::string title = s.source + " -> " + s.target;
  // A letter is about half a cell wide.
  const auto columns = std::max<int64_t>(40, 2 * static_cast<int64_t>(s.source_tokens.size()));
  HeatMap m{.title = cut_to_columns(title, columns, "..."),
            .values = std::vector<double>(s.weights[0].size()),
            .row_labels = s.target_tokens,
            .column_labels = s.source_tokens};
  for (const auto& head : s.weights) {
    for (size_t i = 0; i < head.size(); ++i) {
      m.values[i] += static_cast<double>(head[i]) / static_cast<double>(s.weights.size());
    }
  }
  return m;
}

// What is right for sequence i, as people read it.
std::vector<std::string> expected(const Dataset& dataset, const HeldOut& data, int64_t i,
                                  const Config& c) {
  if (!data.texts.empty()) return {data.texts[static_cast<size_t>(i)]};
  std::vector<std::string> all;
  for (const auto& ids : data.references[static_cast<size_t>(i)]) {
    all.push_back(join_target(c, dataset.target.decode(std::span(ids))));
  }
  return all;
}

}  // namespace

Shown translate_and_look(const EncoderDecoder& model, const Config& c, const Vocabularies& v,
                         std::span<const int32_t> source, const DecodeFlags& flags) {
  TokenLists one;
  one.add(source);
  const Translation t = translate(model, one, flags).front();
  Shown s;
  for (const int64_t id : t.ids) s.target_tokens.push_back(v.target.token(id));
  s.log_probability = t.log_probability;
  for (const int32_t id : source) s.source_tokens.push_back(v.source.token(id));
  s.source = join_source(c, s.source_tokens);
  s.target = join_target(c, s.target_tokens);
  if (c.attention == "none" || t.ids.empty()) return s;
  std::vector<int64_t> from(source.begin(), source.end()), to{Vocabulary::begin};
  to.insert(to.end(), t.ids.begin(), t.ids.end() - 1);
  const auto row = [](const std::vector<int64_t>& ids) {
    return from_vector(ids, {1, static_cast<int64_t>(ids.size())});
  };
  const Tensor maps = fovea::select(model.alignment(row(from), row(to)), 0, 0);  // (maps, T, S)
  for (const Tensor& map : unbind(maps)) s.weights.push_back(map.to_vector<float>());
  return s;
}

std::vector<Shown> show_some(const EncoderDecoder& model, const Dataset& dataset,
                             const HeldOut& data, const Config& c, const DecodeFlags& flags,
                             int64_t count) {
  std::vector<Shown> all;
  const HeldOut some = data.spread(count);
  for (int64_t i = 0; i < some.size(); ++i) {
    Shown s =
        translate_and_look(model, c, {dataset.source, dataset.target}, some.sources[i], flags);
    for (const std::string& text : expected(dataset, some, i, c)) {
      if (!s.expected.empty()) s.expected += ", or ";
      s.expected += text;
      s.right = s.right || text == s.target;
    }
    all.push_back(std::move(s));
  }
  return all;
}

std::string text_of(const Shown& s) {
  std::string text = fmt::format("{} -> {}", visible_token(s.source), visible_token(s.target));
  if (!s.expected.empty()) {
    text += s.right ? "  (right)" : fmt::format("  (is {})", visible_token(s.expected));
  }
  text += '\n';
  if (s.weights.empty()) return text;
  HeatMap map = mean_map(s);
  map.title.clear();
  return text + text_map(map, {.width = 76});
}

Drawn write_attention(const std::string& folder, const Config& c, const std::vector<Shown>& shown) {
  std::vector<AttentionExample> examples;
  std::vector<HeatMap> maps;
  Drawn drawn;
  for (const Shown& s : shown) {
    if (s.weights.empty()) continue;
    examples.push_back({.title = s.source,
                        .source = s.source_tokens,
                        .target = s.target_tokens,
                        .weights = s.weights,
                        .expected = s.expected,
                        .right = s.expected.empty() ? std::optional<bool>() : s.right});
    if (std::max(s.source_tokens.size(), s.target_tokens.size()) > kDrawnTokens) {
      ++drawn.left_out;
    } else if (maps.size() < 6) {
      maps.push_back(mean_map(s));
    }
  }
  if (examples.empty()) return drawn;
  const std::string title = fmt::format("{}: {} attention", c.task, c.attention);
  write_file_atomically(examples::in_folder(folder, "attention.html"),
                        attention_page(examples, {.title = title}));
  drawn.files.emplace_back("attention.html");
  if (maps.empty()) return drawn;
  const Image image = draw_heat_maps(
      maps, {.title = title, .row_axis = "written", .column_axis = "read", .maps_per_row = 2});
  write_png(examples::in_folder(folder, "attention.png"), image.rgb.data(), image.width,
            image.height, 3);
  drawn.files.emplace_back("attention.png");
  return drawn;
}

}  // namespace fovea::seq2seq
