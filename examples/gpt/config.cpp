#include "examples/gpt/config.h"

#include "examples/common/program.h"

namespace fovea::char_gpt {

GPTOptions Config::model(int64_t vocab) const {
  return {.vocab = vocab,
          .context = context,
          .d_model = width,
          .heads = heads,
          .layers = layers,
          .dropout = dropout,
          .activation = Activation::gelu,
          .bias = false};
}

examples::RecordedFlags Config::recorded() {
  examples::RecordedFlags flags("gpt");
  flags.add_free("text", text).add("characters", characters);
  flags.add("layers", layers).add("heads", heads).add("width", width).add("context", context);
  flags.add("dropout", dropout).add("seed", seed).add("steps", steps).add("batch", batch);
  flags.add("lr", lr).add("min-lr", min_lr).add("warm-up", warm_up).add("beta2", beta2);
  flags.add("weight-decay", weight_decay).add("clip", clip).add("eval-every", eval_every);
  return flags;
}

Config preset(const std::string& name) {
  Config c;
  if (name == "cpu") return c;
  if (name != "tiny") throw examples::UsageError("--preset: " + name + " is not cpu or tiny");
  c.layers = 2;
  c.heads = 2;
  c.width = 32;
  c.context = 32;
  c.steps = 500;
  c.lr = 3e-3;
  c.min_lr = 3e-4;
  c.warm_up = 20;
  c.eval_every = 100;
  return c;
}

}  // namespace fovea::char_gpt
