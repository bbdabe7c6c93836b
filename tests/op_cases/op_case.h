// The case table: one row an operation and kind of input. A row says how to call the operation, on
// what, and what is right; what is done with it (compare, check gradients, time) is up to the
// program that reads the table. Needs no test library.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "fovea/core/tensor.h"
#include "tests/op_cases/naive.h"

namespace fovea::cases {

/// One input. Built by floats(), integers(), bools() and the setters, which chain.
struct InputSpec {
  Shape shape;
  DType dtype = f64;                ///< f64 stands for the floating type under test
  double low = -2, high = 2;        ///< values lie in [low, high)
  std::vector<double> kinks = {};   ///< values stay kMargin away from these
  bool distinct = false;            ///< values differ by a fixed step: no ties
  bool grad = true;                 ///< floats only: wants a gradient
  std::vector<double> values = {};  ///< these, where the shape is the row's own

  InputSpec& range(double lowest, double end) { return low = lowest, high = end, *this; }
  InputSpec& away_from(std::vector<double> points) { return kinks = std::move(points), *this; }
  InputSpec& no_ties() { return distinct = true, *this; }
  InputSpec& no_grad() { return grad = false, *this; }
  InputSpec& holding(std::vector<double> v) { return values = std::move(v), *this; }
};
inline constexpr double kMargin = 1e-2;

inline InputSpec floats(const Shape& shape) { return {.shape = shape}; }
inline InputSpec integers(const Shape& shape, int64_t low, int64_t end) {
  return {.shape = shape,
          .dtype = i64,
          .low = static_cast<double>(low),
          .high = static_cast<double>(end)};
}
inline InputSpec bools(const Shape& shape) {
  return {.shape = shape, .dtype = boolean, .low = 0, .high = 2};
}

using Function = std::function<Tensor(const Tensors&)>;
using NaiveTensors = std::vector<NaiveTensor>;
enum class ErrorKind { shape, dtype, index, graph, value };
inline constexpr auto kShape = ErrorKind::shape, kDType = ErrorKind::dtype,
                      kIndex = ErrorKind::index, kValue = ErrorKind::value;

/// A call that must raise.
struct BadCase {
  std::vector<InputSpec> inputs;
  ErrorKind error = ErrorKind::shape;
  std::string message;  ///< a part of what it says
  Function f = {};      ///< the row's own when empty
};

struct OpCase {
  std::string name;        ///< as ops/ops.h declares it
  std::string label = {};  ///< tells rows of one operation apart
  Function f;
  std::vector<InputSpec> inputs = {};
  /// What is right; or, for random results, what must hold (a complaint, or nothing).
  std::function<NaiveTensor(const NaiveTensors&)> naive = {};
  std::function<std::string(const NaiveTensors&, const NaiveTensor&)> property = {};
  std::optional<DType> result = {};  ///< dtype of the result; else that of the floats
  std::vector<Shape> one = {};       ///< shapes of the inputs with axes of size 1
  std::vector<Shape> zero = {};      ///< shapes of the inputs with a size of 0
  std::vector<Shape> big = {};       ///< shapes that give every thread work, for timing as well
  bool differentiable = true;
  bool needs_contiguous = false;  ///< refuses odd layouts by contract (view)
  double tolerance_f32 = 2e-6;    ///< of the forward pass, against the naive loop
  std::vector<BadCase> bad = {};

  /// Whether there is a gradient to check.
  bool has_gradient() const;
  std::string id() const { return label.empty() ? name : name + "." + label; }
};

std::vector<OpCase> rows_arrange();
std::vector<OpCase> rows_attention();
/// The layers of nn/attention that read values: over any score, local, and those of tutorials.
std::vector<OpCase> rows_attention_layers();
std::vector<OpCase> rows_binary();
std::vector<OpCase> rows_compare();
std::vector<OpCase> rows_conv();
std::vector<OpCase> rows_creation();
std::vector<OpCase> rows_distances();
std::vector<OpCase> rows_index();
std::vector<OpCase> rows_join();
/// The layers of nn/, as functions of their inputs and parameters: names start with a capital.
std::vector<OpCase> rows_layers();
/// RNN, LSTM and GRU, and their cells.
std::vector<OpCase> rows_recurrent_layers();
/// Attention in time linear in the number of tokens.
std::vector<OpCase> rows_linear_attention();
std::vector<OpCase> rows_loss();
std::vector<OpCase> rows_matmul();
std::vector<OpCase> rows_models();
std::vector<OpCase> rows_norm();
std::vector<OpCase> rows_positions();
std::vector<OpCase> rows_random();
/// rnn, lstm, gru: the operations.
std::vector<OpCase> rows_recurrent();
std::vector<OpCase> rows_reduce();
std::vector<OpCase> rows_scores();
/// Encoders, decoders that look back, and models of both.
std::vector<OpCase> rows_seq2seq();
std::vector<OpCase> rows_softmax();
std::vector<OpCase> rows_sort();
std::vector<OpCase> rows_sparse();
std::vector<OpCase> rows_transformer();
/// Attention by landmarks, and with sparse weights.
std::vector<OpCase> rows_sparse_attention();
/// The layers that sum tokens up instead of comparing them in pairs.
std::vector<OpCase> rows_token_attention();
std::vector<OpCase> rows_unary();
std::vector<OpCase> rows_view();
/// All rows, in the order of these files. Ids are unique.
const std::vector<OpCase>& table();

/// The shapes of these inputs with every axis of size 1.
std::vector<Shape> all_one(const std::vector<InputSpec>& specs);

/// Tensors for the specs: contiguous leaves, with floats of type `floating`. Same seed, same
/// values. `shapes`, when not empty, stand in for those of the specs.
Tensors make_inputs(const std::vector<InputSpec>& specs, DType floating, uint64_t seed,
                    const std::vector<Shape>& shapes = {});
NaiveTensor to_naive(const Tensor& x);
NaiveTensors to_naive(const Tensors& xs);

/// The largest |a - b| / (|b| + share * max |b| + floor); NaN and infinities must be the same, else
/// the error is infinite, as it is for different shapes.
double relative_error(const NaiveTensor& a, const NaiveTensor& b, double share = 0.1,
                      double floor = 0);
/// "" when a and b agree: |a - b| <= tolerance * (|b| + share * max |b|) at every index, NaN and
/// infinities alike. Else what differs most.
std::string compare(const NaiveTensor& a, const NaiveTensor& b, double tolerance,
                    double share = 0.1);

}  // namespace fovea::cases
