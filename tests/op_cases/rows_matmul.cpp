// Products of matrices and vectors.
#include "fovea/ops/ops.h"
#include "tests/op_cases/op_case.h"

namespace fovea::cases {
namespace {

OpCase matmul_case(const char* label, const Shape& a, const Shape& b, std::vector<Shape> zero = {},
                   std::vector<Shape> big = {}) {
  OpCase row;
  row.name = "matmul";
  row.label = label;
  row.f = [](const Tensors& x) { return matmul(x[0], x[1]); };
  row.inputs = {floats(a), floats(b)};
  row.naive = [](const NaiveTensors& x) { return matmul(x[0], x[1]); };
  row.one = all_one(row.inputs);
  row.zero = std::move(zero);
  row.big = std::move(big);
  return row;
}

NaiveTensor affine_of(const NaiveTensors& x) {
  const NaiveTensor y = matmul(x[0], permute(x[1], {1, 0}));
  return x.size() < 3 ? y : zip(y, x[2], [](double a, double b) { return a + b; });
}

}  // namespace

std::vector<OpCase> rows_matmul() {
  std::vector<OpCase> rows{
      matmul_case("", {3, 4}, {4, 5}, {{0, 4}, {4, 5}}, {{130, 70}, {70, 150}}),
      matmul_case("inner_zero", {3, 2}, {2, 4}, {{3, 0}, {0, 4}}),
      matmul_case("columns_zero", {3, 2}, {2, 4}, {{3, 2}, {2, 0}}),
      matmul_case("vectors", {4}, {4}, {{0}, {0}}),
      matmul_case("vector_matrix", {4}, {4, 3}, {{0}, {0, 3}}, {{700}, {700, 90}}),
      matmul_case("matrix_vector", {3, 4}, {4}, {{0, 4}, {4}}, {{700, 90}, {90}}),
      matmul_case("batch", {2, 3, 4}, {2, 4, 5}, {{0, 3, 4}, {0, 4, 5}},
                  {{9, 33, 40}, {9, 40, 50}}),
      matmul_case("batch_of_one", {2, 3, 4}, {4, 5}, {{0, 3, 4}, {4, 5}}, {{9, 33, 40}, {40, 50}}),
      matmul_case("one_by_batch", {3, 4}, {2, 4, 5}, {{3, 4}, {0, 4, 5}}, {{33, 40}, {9, 40, 50}}),
      matmul_case("broadcast", {2, 1, 3, 4}, {5, 4, 2}, {{0, 1, 3, 4}, {5, 4, 2}}),
      matmul_case("batch_vector", {2, 3, 4}, {4}, {{0, 3, 4}, {4}}),
      matmul_case("vector_batch", {4}, {2, 4, 3}, {{4}, {0, 4, 3}}),
      matmul_case("row_column", {1, 4}, {4, 1}),
      matmul_case("column_row", {4, 1}, {1, 3}),
  };
  rows[0].bad = {{{floats({2, 3}), floats({4, 5})}, ErrorKind::shape, "matmul"},
                 {{floats({2, 3}), floats({4, 5})}, ErrorKind::shape, "[4, 5]"},
                 {{floats({3}), floats({4})}, ErrorKind::shape, "matmul"},
                 {{floats({}), floats({4})}, ErrorKind::shape, "matmul"},
                 {{floats({2, 3, 4}), floats({5, 4, 2})}, ErrorKind::shape, "matmul"},
                 {{integers({2, 3}, 0, 5), floats({3, 2})}, ErrorKind::dtype, "matmul"}};

  OpCase plain;
  plain.name = "linear";
  plain.f = [](const Tensors& x) { return linear(x[0], x[1], x[2]); };
  plain.inputs = {floats({3, 4}), floats({5, 4}), floats({5})};
  plain.naive = affine_of;
  plain.one = all_one(plain.inputs);
  plain.zero = {{0, 4}, {5, 4}, {5}};
  plain.big = {{130, 70}, {150, 70}, {150}};
  plain.bad = {{{floats({3, 4}), floats({5, 3}), floats({5})}, ErrorKind::shape, "linear"},
               {{floats({3, 4}), floats({5, 4}), floats({4})}, ErrorKind::shape, "linear"},
               {{floats({3, 4}), floats({4}), floats({4})}, ErrorKind::shape, "linear"}};
  OpCase batch = plain;
  batch.label = "batch";
  batch.inputs[0].shape = {2, 3, 4};
  batch.one = {{1, 1, 4}, {5, 4}, {5}};
  batch.zero = {{2, 0, 4}, {5, 4}, {5}};
  batch.big = {{9, 33, 40}, {50, 40}, {50}};
  batch.bad = {};
  OpCase vector = batch;
  vector.label = "vector";
  vector.inputs[0].shape = {4};
  vector.one = {{1}, {1, 1}, {1}};
  vector.zero = vector.big = {};
  OpCase bare = batch;
  bare.label = "no_bias";
  bare.f = [](const Tensors& x) { return linear(x[0], x[1]); };
  bare.inputs.pop_back();
  bare.one = {{1, 3, 1}, {1, 1}};
  bare.zero.pop_back();
  bare.big.pop_back();
  OpCase narrow_row = plain;
  narrow_row.label = "inner_zero";
  narrow_row.zero = {{3, 0}, {5, 0}, {5}};
  narrow_row.bad = {};
  for (OpCase* row : {&plain, &batch, &vector, &bare, &narrow_row}) rows.push_back(std::move(*row));

  OpCase inner;
  inner.name = "dot";
  inner.f = [](const Tensors& x) { return dot(x[0], x[1]); };
  inner.inputs = {floats({7}), floats({7})};
  inner.naive = [](const NaiveTensors& x) { return matmul(x[0], x[1]); };
  inner.one = {{1}, {1}};
  inner.zero = {{0}, {0}};
  inner.big = {{70001}, {70001}};
  inner.bad = {{{floats({3}), floats({4})}, ErrorKind::shape, "dot"},
               {{floats({3, 1}), floats({3})}, ErrorKind::shape, "dot"}};
  rows.push_back(std::move(inner));

  OpCase table;
  table.name = "outer";
  table.f = [](const Tensors& x) { return outer(x[0], x[1]); };
  table.inputs = {floats({3}), floats({4})};
  table.naive = [](const NaiveTensors& x) {
    return zip(reshape(x[0], {x[0].numel(), 1}), x[1], [](double a, double b) { return a * b; });
  };
  table.one = {{1}, {1}};
  table.zero = {{0}, {4}};
  table.big = {{300}, {257}};
  table.bad = {{{floats({3, 1}), floats({4})}, ErrorKind::shape, "outer"}};
  rows.push_back(std::move(table));

  return rows;
}

}  // namespace fovea::cases
