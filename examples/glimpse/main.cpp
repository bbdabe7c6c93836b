// Learns to read images through a few glimpses, and shows where it looked.
//
//     glimpse --out out/glimpse                     train on Fashion-MNIST
//     glimpse --data DIR                            on MNIST, or any folder of IDX files
//     glimpse --resume out/glimpse/checkpoint.safetensors
//     glimpse --show 16 --checkpoint out/glimpse/model.safetensors
#include <fmt/format.h>

#include "examples/common/flags.h"
#include "examples/common/interrupt.h"
#include "examples/common/next_command.h"
#include "examples/common/output.h"
#include "examples/common/program.h"
#include "examples/common/resume.h"
#include "examples/glimpse/show.h"
#include "examples/glimpse/train.h"
#include "fovea/core/error.h"
#include "fovea/core/parallel.h"
#include "fovea/io/file.h"
#include "fovea/io/metrics.h"
#include "fovea/io/safetensors.h"
#include "fovea/nn/serialize.h"

namespace fovea::glimpse {
namespace {

using examples::CommonFlags;

struct Arguments {
  Config config;
  CommonFlags common{.out = "out/glimpse", .epochs = 25};
  std::string checkpoint;
  int64_t show = 0;
};

void parse(int argc, char** argv, Arguments& a) {
  examples::Flags flags(
      "Learns to read images through a few glimpses (Mnih 2014), and shows where it looked");
  Config& c = a.config;
  a.common.seed = c.seed;
  a.common.epochs = c.epochs;
  flags.add_common(a.common);
  const auto add = [&flags](const char* name, auto& value, const char* what) {
    return flags.add(name, value, what);
  };
  using examples::above, examples::at_least, examples::between, examples::one_of;
  add("--data", c.data, "Folder of IDX files: MNIST, Fashion-MNIST, ...").type_name("DIR");
  add("--dataset", c.dataset, "original, translated or cluttered")
      .check(one_of({"original", "translated", "cluttered"}));
  add("--glimpses", c.glimpses, "Looks at each image").check(at_least(1, 1000));
  add("--patch", c.patch, "Side of a glimpse in pixels").check(at_least(1, 1000));
  add("--scales", c.scales, "Scales of a glimpse, each twice as wide").check(at_least(1, 8));
  add("--hidden", c.hidden, "Width of the memory").check(at_least(1, 1 << 16));
  add("--std", c.std, "Spread of a location around its mean").check(above(0));
  add("--start", c.start, "First look: uniform (anywhere) or centre")
      .check(one_of({"uniform", "centre"}));
  add("--batch", c.batch, "Images in a step").check(at_least(1, 1 << 20));
  add("--lr", c.lr, "Learning rate of Adam").check(above(0));
  add("--schedule", c.schedule, "How the learning rate falls: cosine or plateau")
      .check(one_of({"cosine", "plateau"}));
  add("--policy-weight", c.policy_weight, "Weight of the policy's loss").check(between(0, 1e6));
  add("--clip", c.clip, "Largest norm of a gradient").check(above(0));
  add("--location-lr", c.location_lr, "Learning rate of the location network, as a part of --lr")
      .check(above(0));
  add("--duplicates", c.duplicates, "Episodes for a training image").check(at_least(1, 1000));
  add("--mc-samples", c.mc_samples, "Episodes averaged for a test image").check(at_least(1, 1000));
  add("--checkpoint", a.checkpoint, "What --show looks with, beside --resume").type_name("FILE");
  add("--show", a.show, "Draw the paths over this many test images, do not train")
      .check(at_least(1, 1024));
  flags.parse(argc, argv);
  c.seed = a.common.seed;
  c.epochs = a.common.epochs;
}

// Flags that are not given keep the values of the file to go on from.
Arguments read_arguments(int argc, char** argv) {
  Arguments a;
  parse(argc, argv, a);
  const std::string file =
      examples::file_to_go_on_from(a.common, a.checkpoint, "--show", a.show > 0);
  if (file.empty()) return a;
  Config before;
  before.recorded().read(read_safetensors(file).metadata, file);
  Arguments b;
  b.config = before;
  parse(argc, argv, b);
  const std::string other = b.config.recorded().conflict(before.recorded());
  if (!other.empty()) {
    throw examples::UsageError(
        fmt::format("{} in {}; leave the flag out, or train anew", other, file));
  }
  b.checkpoint = file;
  return b;
}

int show(const Arguments& a) {
  const Images test(load_image_dataset(a.config.data, false), parse_task(a.config.dataset),
                    a.config.seed, Purpose::test);
  RecurrentAttention model(a.config.model());
  examples::load_weights(model, a.checkpoint);
  examples::prepare_out(a.common.out);
  const std::string picture = examples::in_folder(a.common.out, "glimpses.png");
  draw_paths(picture, model, test, a.show, a.config);
  fmt::print("wrote {}\n", picture);
  return 0;
}

void write_results(const Arguments& a, const RecurrentAttention& model, const Datasets& data,
                   const History& history, double test_error) {
  const auto path = [&a](const char* name) { return examples::in_folder(a.common.out, name); };
  const Config& c = a.config;
  save(model, path("model.safetensors"), Config(c).recorded().to_metadata());
  draw_paths(path("glimpses.png"), model, data.test, 16, c);
  draw_history(path("curve.svg"), history, c);
  const double seconds = history.total_seconds();
  const auto epochs = static_cast<int64_t>(history.loss.size());
  Metrics m;
  m.set("program", "glimpse");
  m.set("test_error", test_error);  // fractions: 0.025 is 2.5 %
  m.set("test_accuracy", 1 - test_error);
  m.set("test_error_percent", 100 * test_error);
  m.set("test_accuracy_percent", 100 * (1 - test_error));
  m.set("valid_error", history.valid_error.back());
  m.set("train_loss", history.loss.back());
  m.set("train_accuracy", history.train_accuracy.back());
  m.set("epochs", epochs);
  m.set("seed", static_cast<int64_t>(c.seed));
  m.set("threads", threads());
  m.set("train_seconds", seconds);
  m.set("samples_per_second",
        static_cast<double>(epochs * data.train.count()) / std::max(seconds, 1e-9));
  m.set("parameters", model.numel());
  m.set("data", c.data);
  m.set("dataset", c.dataset);
  m.set("glimpses", c.glimpses);
  m.set("patch", c.patch);
  m.set("scales", c.scales);
  m.set("loss_by_epoch", history.loss);
  m.set("train_accuracy_by_epoch", history.train_accuracy);
  m.set("valid_error_by_epoch", history.valid_error);
  m.set("seconds_by_epoch", history.seconds);
  m.write(path("metrics.json"));
}

int run(int argc, char** argv) {
  Arguments a = read_arguments(argc, argv);
  if (a.show > 0) return show(a);
  Datasets data = load_datasets(a.config);
  manual_seed(a.config.seed);
  RecurrentAttention model(a.config.model());
  model.measure(data.train.source());
  Trainer trainer(model, data, a.config, a.common);
  examples::prepare_out(a.common.out);
  examples::catch_interrupts();
  if (!a.common.quiet) {
    fmt::print("{} training images of {} x {}, {} glimpses of {} x {}, {} parameters, {} threads\n",
               data.train.count(), data.train.height(), data.train.width(), a.config.glimpses,
               a.config.patch, a.config.patch, model.numel(), threads());
  }
  const History history = trainer.train();
  const double error = error_rate(model, data.test, a.config, Purpose::test);
  write_results(a, model, data, history, error);
  fmt::print("test accuracy {:.2f} % (error {:.2f} %) after {} epochs in {:.1f} s\n",
             100 * (1 - error), 100 * error, history.loss.size(), history.total_seconds());
  fmt::print("wrote metrics.json, model.safetensors, curve.svg, glimpses.png to {}\n",
             a.common.out);
  fmt::print("next: {}\n",
             examples::command({"--show", "64", "--checkpoint",
                                examples::in_folder(a.common.out, "model.safetensors"), "--out",
                                a.common.out}));
  return 0;
}

}  // namespace
}  // namespace fovea::glimpse

int main(int argc, char** argv) {
  return fovea::examples::run_program(argc, argv, fovea::glimpse::run);
}
