// Runs the property of every operation, each under its own name: "Properties.softmax".
#include "tests/properties/property.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cctype>
#include <map>
#include <set>

#include "fovea/core/engine.h"
#include "tests/op_cases/op_case.h"

namespace fovea::properties {
namespace {

std::string described(const Tensors& inputs) {
  std::string s = " of";
  for (const Tensor& x : inputs) {
    s += fmt::format(" {} {} strides {},", name(x.dtype()), x.shape().str(), x.strides().str());
  }
  return s.substr(0, s.size() - 1);
}

bool has_single(const Tensors& xs) {
  for (const Tensor& x : xs) {
    if (x.dtype() == f32) return true;
  }
  return false;
}

// The dtype that operands of these promote to: of several f64 and one i64, f64.
DType promoted(const Tensors& xs) {
  DType t = boolean;
  for (const Tensor& x : xs) t = promote(t, x.dtype());
  return t;
}

void check_result(const Trial& t, const Tensor& y, size_t k, const Tensors& wanted) {
  const std::string what = fmt::format("result {}{}", k, described(t.inputs));
  require_equal(y, t.values[k], what, y.dtype() == f32 || has_single(t.inputs));
  const DType want = t.dtypes.empty() ? promoted(t.inputs) : t.dtypes[k];
  if (y.dtype() != want) fail(fmt::format("{} is {}, not {}", what, name(y.dtype()), name(want)));
  const bool recorded = is_floating(want) && !wanted.empty();
  if (y.requires_grad() != recorded) fail(what + (recorded ? " is not recorded" : " is recorded"));
  bool shared = false;
  for (const Tensor& x : t.inputs) shared = shared || y.shares_storage(x);
  if (t.storage != Storage::any && shared != (t.storage == Storage::shared)) {
    fail(what + (shared ? " lies in the memory of an input" : " was copied"));
  }
}

void check_gradients(const Trial& t, const Tensors& results, const Tensors& wanted) {
  const bool create_graph = chance(2);  // the formula, else the rule that is fast
  NaiveTensors w, got;
  for (const Tensor& x : wanted) got.push_back(cases::filled(x.shape(), 0));
  for (const Tensor& y : results) {
    const Tensor upstream = weights(y.shape(), is_floating(y.dtype()) ? y.dtype() : f64);
    w.push_back(cases::to_naive(upstream));
    if (!y.requires_grad()) continue;
    const Tensors g = grad(y, wanted,
                           {.create_graph = create_graph,
                            .retain_graph = results.size() > 1 || create_graph,
                            .allow_unused = true,
                            .upstream = upstream});
    for (size_t k = 0; k < g.size(); ++k) {
      if (!g[k].defined()) continue;
      const Tensor& x = wanted[k];
      if (!(g[k].shape() == x.shape()) || g[k].dtype() != x.dtype()) {
        fail(fmt::format("a gradient is {} {}", name(g[k].dtype()), g[k].shape().str()) +
             described(t.inputs));
      }
      got[k] = cases::zip(got[k], cases::to_naive(g[k]), [](double a, double b) { return a + b; });
    }
  }
  const NaiveTensors want = t.gradients(w);
  const bool single = has_single(t.inputs) || has_single(results);
  for (size_t i = 0, k = 0; i < t.inputs.size(); ++i) {
    if (!t.inputs[i].requires_grad()) continue;
    require_equal(got[k++], want[i],
                  fmt::format("gradient {}{}{}", i, create_graph ? " by the formula" : "",
                              described(t.inputs)),
                  single);
  }
}

void check(const Trial& t) {
  const NaiveTensors before = cases::to_naive(t.inputs);
  Tensors wanted;
  for (const Tensor& x : t.inputs) {
    if (x.requires_grad()) wanted.push_back(x);
  }
  const Tensors y = t.f(t.inputs);
  if (y.size() != t.values.size()) fail(fmt::format("{} results{}", y.size(), described(t.inputs)));
  for (size_t k = 0; k < y.size(); ++k) check_result(t, y[k], k, wanted);
  for (const Tensor& x : y) {
    if (!x.requires_grad()) continue;
    check_gradients(t, y, wanted);
    break;
  }
  for (size_t k = 0; k < before.size(); ++k) {
    require_equal(t.inputs[k], before[k], fmt::format("input {} after the call", k));
  }
}

const Properties& table() {
  static const Properties all = [] {
    Properties p;
    for (const auto& family :
         {unary_properties, binary_properties, comparison_properties, reduction_properties,
          scan_properties, score_properties, sort_properties, product_properties, view_properties,
          part_properties, arrangement_properties, index_properties}) {
      for (Property& row : family()) p.push_back(std::move(row));
    }
    return p;
  }();
  return all;
}

class PropertyTest : public ::testing::Test {
 public:
  explicit PropertyTest(const Property& property) : property_(property) {}
  void TestBody() override {
    rc::detail::checkGTest([this] { check(property_.trial()); });
  }

 private:
  const Property& property_;
};

[[maybe_unused]] const bool registered = [] {
  for (const Property& p : table()) {
    ::testing::RegisterTest("Properties", p.name.c_str(), nullptr, nullptr, __FILE__, __LINE__,
                            [&p]() -> ::testing::Test* { return new PropertyTest(p); });
  }
  return true;
}();

// Operations without a property, and what stands for it.
const std::map<std::string, std::vector<const char*>>& exempt() {
  static const std::map<std::string, std::vector<const char*>> names{
      {"no tensor goes in, or its shape alone; the case table spells the results out",
       {"zeros", "ones", "full", "zeros_like", "ones_like", "full_like", "empty_like", "eye",
        "arange", "linspace", "tensor", "from_vector", "from_data"}},
      {"random: a row of the case table says what holds of every draw",
       {"orthogonal_features", "rand", "randn", "uniform", "normal", "rand_like", "randn_like",
        "randint", "randperm", "bernoulli", "multinomial", "gumbel_softmax", "dropout"}},
      {"a normalising layer: the case table has a row a kind of input",
       {"layer_norm", "rms_norm", "batch_norm", "group_norm"}},
      {"images: the case table has a row a geometry",
       {"conv1d", "conv2d", "conv_transpose2d", "max_pool2d", "avg_pool2d", "grid_sample",
        "affine_grid", "interpolate"}},
      {"attention: the case table has a row a mask",
       {"masked_softmax", "scaled_dot_product_attention", "attention_weights",
        "sparsemax_attention", "entmax15_attention", "feature_attention", "linear_attention",
        "performer_attention", "soft_attention_nystrom"}},
      {"a walk over time: the case table has a row a kind of walk",
       {"rnn", "rnn_relu", "lstm", "gru"}},
      {"a rotation: the case table has a row a pairing", {"rope"}},
      {"a loss: the case table has a row an option",
       {"cross_entropy", "nll_loss", "mse_loss", "binary_cross_entropy_with_logits",
        "binary_cross_entropy", "l1_loss", "huber_loss", "kl_div"}}};
  return names;
}

// The rows of the case table name every operation: coverage_test.cpp holds them to ops/ops.h.
TEST(PropertyTable, EveryOperationHasAProperty) {
  std::set<std::string> declared, drawn, excused;
  for (const auto& row : cases::table()) {
    if (std::islower(static_cast<unsigned char>(row.name[0]))) declared.insert(row.name);
  }
  for (const Property& p : table()) {
    EXPECT_TRUE(drawn.insert(p.name).second) << p.name << " has two properties";
    EXPECT_TRUE(declared.count(p.name)) << p.name << " is not declared in ops/ops.h";
  }
  for (const auto& [reason, names] : exempt()) {
    for (const char* n : names) {
      EXPECT_TRUE(excused.insert(n).second) << n << " is excused twice";
      EXPECT_TRUE(declared.count(n)) << n << " is excused and is not declared in ops/ops.h";
      EXPECT_FALSE(drawn.count(n)) << n << " is excused and has a property";
    }
  }
  for (const std::string& n : declared) {
    EXPECT_TRUE(drawn.count(n) || excused.count(n)) << n << " has no property and no excuse";
  }
}

}  // namespace
}  // namespace fovea::properties
