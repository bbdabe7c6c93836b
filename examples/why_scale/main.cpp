// Why does attention divide its scores by sqrt(d)? Measures what happens to softmax and to its
// gradient with and without, and with the wrong root that some tutorials take.
//
//     why_scale                           d = 4 to 1024, 64 keys
//     why_scale --keys 256 --batches 16   of more keys
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "examples/common/flags.h"
#include "examples/common/output.h"
#include "examples/common/program.h"
#include "examples/why_scale/table.h"
#include "fovea/core/parallel.h"
#include "fovea/nn/attention/self_attention.h"
#include "fovea/ops/ops.h"

namespace fovea::why_scale {
namespace {

struct Arguments {
  Sample sample;
  int64_t largest = 1024;
  int64_t embed = 512;
  examples::CommonFlags common{.out = "out/why_scale"};
};

Arguments read_arguments(int argc, char** argv) {
  Arguments a;
  examples::Flags flags("Why attention divides its scores by sqrt(d): softmax with and without");
  flags.add_common(a.common);
  const auto add = [&flags](const char* name, int64_t& value, const char* what, int64_t low,
                            int64_t high) {
    flags.add(name, value, what).check(examples::at_least(low, high));
  };
  add("--keys", a.sample.keys, "Keys that a query attends to", 2, 4096);
  add("--batches", a.sample.batches, "Batches of so many keys and queries", 1, 4096);
  add("--largest", a.largest, "Widths 4, 8, 16, ... up to this", 4, 1 << 14);
  add("--embed", a.embed, "Width of all heads together", 2, 1 << 14);
  flags.parse(argc, argv);
  return a;
}

// By the width of a head: nothing, the paper's root, and the root of the width of 4 and 16 heads.
Table by_width(const Arguments& a) {
  Table t{.x_key = "d",
          .x_name = "d",
          .columns = {{"plain", "q'k"},
                      {"scaled", "q'k / sqrt(d)"},
                      {"embed4", "q'k / sqrt(4 d)"},
                      {"embed16", "q'k / sqrt(16 d)"}}};
  for (int64_t d = 4; d <= a.largest; d *= 2) {
    const Scores scores(d, a.sample);
    const double root = std::sqrt(static_cast<double>(d));
    const double divisors[] = {1, root, 2 * root, 4 * root};
    t.x.push_back(d);
    for (size_t i = 0; i < t.columns.size(); ++i) {
      t.columns[i].rows.push_back(scores.divided_by(divisors[i]));
    }
  }
  return t;
}

// By the number of heads that share one width, as SelfAttention divides with either scale.
Table by_heads(const Arguments& a) {
  Table t{.x_key = "heads",
          .x_name = "heads",
          .columns = {{"head", "/ sqrt(head_dim)"}, {"embed", "/ sqrt(embed_size)"}}};
  for (int64_t heads = 1; a.embed % heads == 0 && 2 * heads <= a.embed && heads <= 64; heads *= 2) {
    const int64_t d = a.embed / heads;
    const Scores scores(d, a.sample);
    t.x.push_back(heads);
    t.columns[0].rows.push_back(scores.divided_by(std::sqrt(static_cast<double>(d))));
    t.columns[1].rows.push_back(scores.divided_by(std::sqrt(static_cast<double>(a.embed))));
  }
  return t;
}

// The weights that the layer itself gives one query to six keys.
void show_layer(Metrics& m) {
  constexpr int64_t kKeys = 6, kHeads = 16, kEmbed = 128;
  const Tensor q = randn({1, 1, kEmbed}), k = randn({1, kKeys, kEmbed});
  fmt::print("\nSelfAttention, embed_size {}, {} heads: weights of the first head for one query\n",
             kEmbed, kHeads);
  const auto show = [&](const char* key, const char* name, AttentionScale scale) {
    const SelfAttention layer(
        {.embed_size = kEmbed, .heads = kHeads, .scale = scale, .project = false});
    const NoGrad scope;
    const std::vector<float> w = flatten(select(layer.weights(k, q), 1, 0)).to_vector<float>();
    m.set(std::string("layer_") + key, std::vector<double>(w.begin(), w.end()));
    fmt::print("{:<21}", name);
    for (float x : w) fmt::print(" {:.3f}", x);
    fmt::print("\n");
  };
  show("head", "scale = head, paper", AttentionScale::head);
  show("embed", "scale = embed, copies", AttentionScale::embed);
}

void explain(const Arguments& a) {
  if (a.common.quiet) return;
  fmt::print(
      "q, k ~ N(0, 1), {} keys, {} queries; p = softmax of the scores, L = u'p, u ~ N(0, 1)\n"
      "entropy: mean of -sum p log p, at most log {} = {:.3f}; gradients: median norm\n\n",
      a.sample.keys, a.sample.keys * a.sample.batches, a.sample.keys,
      std::log(static_cast<double>(a.sample.keys)));
}

int run(int argc, char** argv) {
  const Arguments a = read_arguments(argc, argv);
  manual_seed(a.common.seed);
  examples::prepare_out(a.common.out);
  explain(a);
  Metrics m;
  m.set("program", "why_scale");
  const Table widths = by_width(a);
  widths.print({"plain", "scaled"});
  fmt::print("\nembed_size {}, shared by more and more heads\n", a.embed);
  const Table heads = by_heads(a);
  heads.print({"head", "embed"});
  widths.write(m);
  heads.write(m);
  show_layer(m);
  const std::string path = examples::in_folder(a.common.out, "why_scale.svg");
  widths.draw(path, "Why attention divides by sqrt(d)",
              fmt::format("softmax over {} keys; mean entropy, median gradient", a.sample.keys));
  m.set("entropy_of_uniform", std::log(static_cast<double>(a.sample.keys)));
  m.set("keys", a.sample.keys);
  m.set("batches", a.sample.batches);
  m.set("embed", a.embed);
  m.set("seed", static_cast<int64_t>(a.common.seed));
  m.set("threads", threads());
  m.write(examples::in_folder(a.common.out, "metrics.json"));
  if (!a.common.quiet) {
    fmt::print(
        "\nUndivided, scores spread as sqrt(d): softmax becomes one-hot, J = diag(p) - pp' goes "
        "to\n"
        "0 and no gradient comes through. Divided by sqrt(d) they spread the same at any width.\n"
        "Divided by sqrt(embed_size) they are sqrt(heads) too small: all keys weigh alike, and\n"
        "the gradient of q shrinks with them.\n");
  }
  fmt::print("wrote metrics.json, why_scale.svg to {}\n", a.common.out);
  // Four times the keys, as many queries.
  fmt::print("next: {} --keys {} --batches {} --out {}\n", examples::program_path(),
             std::min<int64_t>(4 * a.sample.keys, 4096), std::max<int64_t>(1, a.sample.batches / 4),
             a.common.out);
  return 0;
}

}  // namespace
}  // namespace fovea::why_scale

int main(int argc, char** argv) {
  return fovea::examples::run_program(argc, argv, fovea::why_scale::run);
}
