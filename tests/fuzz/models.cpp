// Files that models and training runs are loaded from. What has been loaded is used: a state that
// passes every check must not break the next step.
#include "fovea/nn/interchange/gpt2.h"
#include "fovea/nn/interchange/torch_names.h"
#include "fovea/nn/linear.h"
#include "fovea/nn/transformer/encoder.h"
#include "fovea/ops/ops.h"
#include "fovea/optim/adam.h"
#include "fovea/optim/checkpoint.h"
#include "fovea/optim/schedule.h"
#include "tests/fuzz/targets.h"

namespace fovea::fuzz {

void fuzz_checkpoint(Bytes bytes) {
  const MemoryFile file(bytes);
  Linear model(2, 1);
  AdamW adam(model);
  Schedule schedule(adam, WarmUp{.steps = 2, .after = CosineLR{.steps = 4}});
  ReduceLROnPlateau plateau(adam);
  TrainingRun run{
      .parts = {
          {"model", &model}, {"optimizer", &adam}, {"schedule", &schedule}, {"plateau", &plateau}}};
  load_checkpoint(file.path(), run);
  require(run.progress.step >= 0 && run.progress.position >= 0, "progress counts from 0");
  for (int i = 0; i < 2; ++i) {
    adam.zero_grad();
    sum(model(ones({3, 2}))).backward();
    adam.step();
    schedule.step();
    plateau.step(i);
  }
}

void fuzz_torch_names(Bytes bytes) {
  const MemoryFile file(bytes);
  TransformerEncoderLayer layer({.d_model = 2, .d_ff = 3, .dropout = 0});
  load_torch(layer, file.path());
  (void)layer(ones({1, 2, 2}));
}

// The model is made from the sizes in the file: with heads that are asked for, and without.
void fuzz_gpt2(Bytes bytes) {
  const MemoryFile file(bytes);
  const bool asked = bytes.size() % 2 == 0;
  const GPT model = load_gpt2(file.path(), asked ? 1 : 0);
  const NoGrad scope;
  (void)model(zeros({1, 1}, i64));
}

}  // namespace fovea::fuzz
