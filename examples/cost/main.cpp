// What attention costs in time and memory as the text grows: the dense formula, the same function
// tile by tile, and the kinds that cost the same for each token.
//
//     cost                                  T = 128 to 16384, 4 heads of 64
//     cost --tokens 65536 --limit 30        further, for as long as a pass takes half a minute
#include <fmt/format.h>

#include <algorithm>

#include "examples/common/flags.h"
#include "examples/common/output.h"
#include "examples/common/program.h"
#include "examples/cost/report.h"
#include "fovea/core/parallel.h"
#include "fovea/ops/ops.h"

namespace fovea::cost {
namespace {

constexpr int64_t kMostTokens = 1 << 20;

struct Arguments {
  Sizes sizes;
  Limits limits;
  double gigabytes = 2;
  examples::CommonFlags common{.out = "out/cost"};
};

Arguments read_arguments(int argc, char** argv) {
  Arguments a;
  examples::Flags flags(
      "What attention costs as the text grows: time and memory, forward and backward");
  flags.add_common(a.common);
  const auto add = [&flags](const char* name, auto& value, const char* what) {
    return flags.add(name, value, what);
  };
  using examples::above, examples::at_least;
  add("--tokens", a.limits.tokens, "T = 128, 256, ... up to this")
      .check(at_least(128, kMostTokens));
  add("--heads", a.sizes.heads, "Heads of attention").check(at_least(1, 1024));
  add("--dim", a.sizes.dim, "Width of a head").check(at_least(1, 4096));
  add("--window", a.sizes.window, "Keys on either side that a window shows")
      .check(at_least(0, kMostTokens));
  add("--landmarks", a.sizes.landmarks, "Landmarks of SOFT").check(at_least(1, 1024));
  add("--features", a.sizes.features, "Features of Performer").check(at_least(1, 4096));
  add("--limit", a.limits.seconds, "End a curve before a pass takes more seconds").check(above(0));
  add("--memory", a.gigabytes, "End a curve before a pass takes more GB").check(above(0));
  add("--repeats", a.limits.repeats, "Passes of which the median counts").check(at_least(1, 1000));
  flags.parse(argc, argv);
  a.limits.bytes = a.gigabytes * 1e9;
  return a;
}

void write_metrics(const Arguments& a, const std::vector<Method>& all,
                   const std::vector<Curve>& curves, double off) {
  Metrics m;
  m.set("program", "cost");
  for (size_t i = 0; i < all.size(); ++i) write_curve(m, all[i], curves[i]);
  m.set("flash_difference", off);
  m.set("heads", a.sizes.heads);
  m.set("dim", a.sizes.dim);
  m.set("window", a.sizes.window);
  m.set("landmarks", a.sizes.landmarks);
  m.set("features", a.sizes.features);
  m.set("limit_seconds", a.limits.seconds);
  m.set("limit_bytes", a.limits.bytes);
  m.set("repeats", a.limits.repeats);
  m.set("seed", static_cast<int64_t>(a.common.seed));
  m.set("threads", threads());
  m.write(examples::in_folder(a.common.out, "metrics.json"));
}

// One doubling further, of the usual windows, landmarks and features.
void propose(const Arguments& a) {
  fmt::print("next: {} --tokens {} --heads {} --dim {} --limit {:g} --memory {:g} --out {}\n",
             examples::program_path(), std::min(2 * a.limits.tokens, kMostTokens), a.sizes.heads,
             a.sizes.dim, 2 * a.limits.seconds, 2 * a.gigabytes, a.common.out);
}

int run(int argc, char** argv) {
  const Arguments a = read_arguments(argc, argv);
  manual_seed(a.common.seed);
  examples::prepare_out(a.common.out);
  const std::vector<Method> all = methods(a.sizes);
  if (!a.common.quiet) {
    fmt::print(
        "forward and backward, batch 1, {} heads of {}, {} threads, median of {}\n"
        "T^: the power of T that fits the upper half of a row\n\n",
        a.sizes.heads, a.sizes.dim, threads(), a.limits.repeats);
  }
  const Table table(a.limits.tokens);
  table.head("milliseconds");
  std::vector<Curve> curves;
  for (const Method& m : all) {
    curves.push_back(measure(m, a.sizes, a.limits));
    table.row(m.name, curves.back(), curves.back().seconds, 1e3);
  }
  fmt::print("\n");
  table.head("peak megabytes");
  for (size_t i = 0; i < all.size(); ++i) table.row(all[i].name, curves[i], curves[i].bytes, 1e-6);
  fmt::print("\n");
  for (size_t i = 0; i < all.size(); ++i) {
    if (!curves[i].stopped.empty()) fmt::print("{} ends: {}\n", all[i].key, curves[i].stopped);
  }
  const int64_t few = std::min<int64_t>(a.limits.tokens, 1024);
  const double off = difference(all[1], all[0], a.sizes, few);
  if (!a.common.quiet) {
    fmt::print(
        "\nflash computes what naive computes, here to {:.0e} of its largest element; the others\n"
        "attend in another way\n\n",
        off);
  }
  write_metrics(a, all, curves, off);
  draw(examples::in_folder(a.common.out, "cost.svg"), all, curves,
       fmt::format("forward and backward, batch 1, {} heads of {}, {} threads", a.sizes.heads,
                   a.sizes.dim, threads()));
  fmt::print("wrote metrics.json, cost.svg to {}\n", a.common.out);
  propose(a);
  return 0;
}

}  // namespace
}  // namespace fovea::cost

int main(int argc, char** argv) {
  return fovea::examples::run_program(argc, argv, fovea::cost::run);
}
