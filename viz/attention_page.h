// Where each output of a model looked, as one HTML page to explore: no server, no network.
//
// Each example shows its source and its target tokens in two rows. Pointing at a target token, or
// reaching it with Tab and the arrow keys, or tapping it, marks the source tokens by weight; at a
// source token, the targets that looked at it. Beside them stands the heat map, where every cell
// answers too. The page follows the reader's light or dark theme, and without scripts it still
// shows the tokens.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace fovea {

struct AttentionExample {
  std::string title = {};
  std::vector<std::string> source = {}, target = {};  ///< tokens, UTF-8; Tk and Tq of them
  /// One a head, each (Tq, Tk) row-major. Kept to 3 digits, clamped to [0, 1]; NaN is marked.
  std::vector<std::vector<float>> weights = {};
  std::string expected = {};       ///< the right answer, when it should be shown
  std::optional<bool> right = {};  ///< whether the model gave it; unset shows no verdict
};

struct AttentionPageOptions {
  std::string title = "Attention";
  std::string subtitle = {};                                   ///< plain text
  std::string source_name = "source", target_name = "target";  ///< what the two rows are
  std::vector<std::string> head_names = {};                    ///< "head 1", ... when empty
};

/// With several heads the reader chooses one or their mean, which comes first. A space among the
/// tokens is shown as U+2423, an empty token as U+2205. About 4 bytes for each weight.
/// ValueError when there is no example, when one has no token on a side or no head, when weights
/// are not target x source, when examples differ in heads, or head_names in number from them.
std::string attention_page(const std::vector<AttentionExample>& examples,
                           const AttentionPageOptions& options = {});

}  // namespace fovea
