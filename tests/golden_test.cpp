// The numbers of PyTorch: results and gradients of rows of the case table, and ten steps of each
// optimiser. The programs in golden/ write them.
#include "tests/op_cases/golden.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <set>

#include "fovea/core/error.h"
#include "fovea/io/safetensors.h"
#include "fovea/ops/ops.h"
#include "fovea/optim/adagrad.h"
#include "fovea/optim/adam.h"
#include "fovea/optim/rmsprop.h"
#include "fovea/optim/sgd.h"
#include "tests/gradcheck/check.h"

namespace fovea::cases {

void PrintTo(const OpCase& row, std::ostream* out) { *out << row.id(); }

namespace {

const Golden& golden() {
  static const Golden g({FOVEA_SOURCE_DIR "/tests/golden/rows.safetensors",
                         FOVEA_SOURCE_DIR "/tests/golden/attention.safetensors",
                         FOVEA_SOURCE_DIR "/tests/golden/recurrent_rows.safetensors"});
  return g;
}

class GoldenRow : public ::testing::TestWithParam<OpCase> {};

TEST_P(GoldenRow, AgreesWithPyTorch) {
  for (const DType t : {f64, f32}) {
    const auto a = golden().compare(GetParam(), t);
    EXPECT_LE(a.error, t == f64 ? 1e-10 : 1e-5) << name(t) << " " << a.where;
  }
}

std::vector<OpCase> golden_rows() {
  std::vector<OpCase> rows;
  for (const OpCase& row : table()) {
    if (golden().has(row.id())) rows.push_back(row);
  }
  return rows;
}

INSTANTIATE_TEST_SUITE_P(Golden, GoldenRow, ::testing::ValuesIn(golden_rows()),
                         [](const auto& info) {
                           std::string id = info.param.id();
                           for (char& c : id) c = c == '.' ? '_' : c;
                           return id;
                         });

// The program that shows gradients must not pass a wrong one.
TEST(GradcheckProgram, ComplainsOfWhatIsWrong) {
  OpCase row;
  row.name = "planted";
  row.inputs = {floats({2, 3})};
  row.f = [](const Tensors& x) { return x[0] * x[0].detach(); };  // half of the gradient of x^2
  row.naive = [](const NaiveTensors& x) { return map(x[0], [](double v) { return v * v; }); };
  const auto wrong = gradchecks::check_row(row, golden(), 1, true);
  EXPECT_FALSE(wrong.ok());
  EXPECT_GT(*wrong.first, 0.4);
  ASSERT_TRUE(wrong.worst);
  EXPECT_NEAR(wrong.worst->numeric, 2 * wrong.worst->analytic, 1e-6);
  row.f = [](const Tensors& x) { return x[0] * x[0]; };
  EXPECT_TRUE(gradchecks::check_row(row, golden(), 1, true).ok());
  row.naive = [](const NaiveTensors& x) {
    return map(x[0], [](double v) { return v * v + 1e-9; });
  };
  EXPECT_FALSE(gradchecks::check_row(row, golden(), 1, false).ok());
  row.f = [](const Tensors&) -> Tensor { throw ValueError("planted: raises; never mind"); };
  EXPECT_FALSE(gradchecks::check_row(row, golden(), 1, false).ok());
}

TEST(Golden, KnowsRowsOfTheTableOnly) {
  std::set<std::string> ids;
  for (const OpCase& row : table()) ids.insert(row.id());
  EXPECT_GE(golden().rows().size(), 301u) << "rows were lost: run the programs of golden/ again";
  for (const std::string& id : golden().rows()) {
    EXPECT_TRUE(ids.count(id)) << id << " is in a golden file and no row of the case table";
  }
}

using Make = std::function<std::unique_ptr<Optimizer>(const Tensors&, double decay)>;

const std::vector<std::pair<std::string, Make>>& optimisers() {
  static const auto sgd = [](double momentum, double dampening, bool nesterov) -> Make {
    return [=](const Tensors& p, double decay) {
      return std::make_unique<SGD>(p, SGDOptions{.lr = 0.05,
                                                 .momentum = momentum,
                                                 .dampening = dampening,
                                                 .weight_decay = decay,
                                                 .nesterov = nesterov});
    };
  };
  static const std::vector<std::pair<std::string, Make>> all{
      {"sgd", sgd(0, 0, false)},
      {"sgd_momentum", sgd(0.9, 0, false)},
      {"sgd_dampened", sgd(0.9, 0.3, false)},
      {"sgd_nesterov", sgd(0.9, 0, true)},
      {"adam",
       [](const Tensors& p, double decay) {
         return std::make_unique<Adam>(p, AdamOptions{0.05, 0.8, 0.97, 1e-6, decay});
       }},
      {"adamw",
       [](const Tensors& p, double decay) {
         return std::make_unique<AdamW>(p, AdamWOptions{0.05, 0.8, 0.97, 1e-6, decay});
       }},
      {"rmsprop",
       [](const Tensors& p, double decay) {
         return std::make_unique<RMSprop>(p, RMSpropOptions{0.05, 0.9, 1e-6, decay});
       }},
      {"adagrad",
       [](const Tensors& p, double decay) {
         return std::make_unique<Adagrad>(p, AdagradOptions{.lr = 0.05,
                                                            .lr_decay = 0.2,
                                                            .weight_decay = decay,
                                                            .initial_accumulator = 0.5,
                                                            .eps = 1e-8});
       }},
  };
  return all;
}

TEST(Golden, OptimisersWalkPyTorchsPaths) {
  const TensorMap stored = read_safetensors(FOVEA_SOURCE_DIR "/tests/golden/optim.safetensors");
  EXPECT_EQ(stored.tensors.size(), 3 * 2 * optimisers().size());
  for (const auto& [name, make] : optimisers()) {
    for (const double decay : {0.0, 0.1}) {
      const std::string id = name + (decay > 0 ? "_decay" : "");
      const Tensor *start = stored.find(id + "/start"), *path = stored.find(id + "/path"),
                   *gradients = stored.find(id + "/gradients");
      ASSERT_TRUE(start && path && gradients) << id;
      ASSERT_EQ(path->size(0), 10);
      for (const DType t : {f64, f32}) {
        const Tensor p = clone(to(*start, t)).requires_grad_();
        const auto optimiser = make({p}, decay);
        for (int64_t step = 0; step < 10; ++step) {
          p.set_grad(to(gradients->select(0, step), t));
          optimiser->step();
          const double error =
              relative_error(to_naive(p.detach()), to_naive(path->select(0, step)));
          EXPECT_LE(error, t == f64 ? 1e-10 : 1e-5)
              << id << " " << fovea::name(t) << " step " << step + 1;
        }
      }
    }
  }
}

}  // namespace
}  // namespace fovea::cases
