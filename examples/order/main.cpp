// Does attention see the order of its tokens? Shuffles a text before a layer of self-attention and
// after it, with each kind of positions.
//
//     order                            the table
//     order --tokens 512 --moved 1000  of a longer text, moved further
#include <fmt/format.h>

#include "examples/common/flags.h"
#include "examples/common/output.h"
#include "examples/common/program.h"
#include "examples/order/schemes.h"
#include "fovea/core/parallel.h"
#include "fovea/io/metrics.h"
#include "fovea/ops/ops.h"

namespace fovea::order {
namespace {

struct Arguments {
  Sizes sizes;
  examples::CommonFlags common{.out = "out/order"};
};

Arguments read_arguments(int argc, char** argv) {
  Arguments a;
  examples::Flags flags("Does attention see the order of its tokens? With each kind of positions");
  flags.add_common(a.common);
  const auto add = [&flags](const char* name, int64_t& value, const char* what, int64_t low) {
    flags.add(name, value, what).check(examples::at_least(low, 1 << 16));
  };
  add("--tokens", a.sizes.tokens, "Tokens of the text", 2);
  add("--width", a.sizes.width, "Width of a token", 2);
  add("--heads", a.sizes.heads, "Heads of attention", 1);
  add("--moved", a.sizes.moved, "Places by which the text is moved", 1);
  flags.parse(argc, argv);
  if (a.sizes.width % (2 * a.sizes.heads) != 0) {
    throw examples::UsageError(
        fmt::format("--width {}: not a multiple of 2 x {} heads, and rotary positions turn pairs",
                    a.sizes.width, a.sizes.heads));
  }
  return a;
}

// The largest difference, as a part of the largest element.
double difference(const Tensor& a, const Tensor& b) {
  return max(abs(a - b)).item() / max(abs(b)).item();
}

// Some order of t tokens that is not their own.
Tensor shuffled(int64_t t) {
  const Tensor order = randperm(t);
  return equal(order, arange(t)) ? flip(order, 0) : order;
}

const char* seen(double shuffle, double move) {
  constexpr double kRounding = 1e-4;
  if (shuffle < kRounding) return "sees a set";
  return move < kRounding ? "sees order" : "sees order and places";
}

int run(int argc, char** argv) {
  const Arguments a = read_arguments(argc, argv);
  manual_seed(a.common.seed);
  const NoGrad scope;
  const Tensor x = randn({1, a.sizes.tokens, a.sizes.width});
  const Tensor order = shuffled(a.sizes.tokens);
  examples::prepare_out(a.common.out);
  if (!a.common.quiet) {
    fmt::print(
        "shuffled: how far f(shuffled x) is from shuffled f(x), as a part of the largest element\n"
        "moved:    how far f is from itself, {} places further on\n\n",
        a.sizes.moved);
  }
  fmt::print("{:<30} {:>9} {:>9}\n", "", "shuffled", "moved");
  Metrics m;
  m.set("program", "order");
  for (const Scheme& s : schemes(a.sizes)) {
    const Tensor y = s.attend(x, 0);
    const double shuffle =
        difference(s.attend(index_select(x, 1, order), 0), index_select(y, 1, order));
    const double move = difference(s.attend(x, a.sizes.moved), y);
    fmt::print("{:<30} {:>9.1e} {:>9.1e}   {}\n", s.name, shuffle, move, seen(shuffle, move));
    m.set(s.key + "_shuffled", shuffle);
    m.set(s.key + "_moved", move);
  }
  m.set("tokens", a.sizes.tokens);
  m.set("width", a.sizes.width);
  m.set("heads", a.sizes.heads);
  m.set("moved", a.sizes.moved);
  m.set("seed", static_cast<int64_t>(a.common.seed));
  m.set("threads", threads());
  m.write(examples::in_folder(a.common.out, "metrics.json"));
  if (!a.common.quiet) {
    fmt::print(
        "\nWithout positions attention sees a set; a causal mask alone gives it an order.\n"
        "What is added to tokens says where they stand; the last five say how far apart they "
        "are.\n");
  }
  fmt::print("wrote metrics.json to {}\n", a.common.out);
  fmt::print("next: {} --tokens 512 --moved 1000 --out {}\n", examples::program_path(),
             a.common.out);
  return 0;
}

}  // namespace
}  // namespace fovea::order

int main(int argc, char** argv) {
  return fovea::examples::run_program(argc, argv, fovea::order::run);
}
