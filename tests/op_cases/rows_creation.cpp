// New tensors from sizes and numbers.
#include "fovea/ops/ops.h"
#include "tests/op_cases/op_case.h"

namespace fovea::cases {
namespace {

OpCase made(const char* name, const char* label, DType dtype, std::function<Tensor()> f,
            NaiveTensor right) {
  OpCase row;
  row.name = name;
  row.label = label;
  row.f = [f = std::move(f)](const Tensors&) { return f(); };
  row.naive = [right = std::move(right)](const NaiveTensors&) { return right; };
  row.result = dtype;
  row.differentiable = false;
  return row;
}

// Of the shape and type of another tensor, whose gradient it does not touch.
OpCase alike(const char* name, std::function<Tensor(const Tensor&)> f, double value) {
  OpCase row;
  row.name = name;
  row.f = [f = std::move(f)](const Tensors& x) { return f(x[0]); };
  row.inputs = {floats({2, 3})};
  row.naive = [value](const NaiveTensors& x) { return filled(x[0].shape, value); };
  row.differentiable = false;
  row.one = {{1, 1}};
  row.zero = {{0, 3}};
  row.big = {{300, 257}};
  return row;
}

BadCase wrong(ErrorKind error, const char* message, std::function<Tensor()> f) {
  return {{}, error, message, [f = std::move(f)](const Tensors&) { return f(); }};
}

}  // namespace

std::vector<OpCase> rows_creation() {
  std::vector<OpCase> rows{
      made(
          "zeros", "", f32,
          [] {
            return zeros({2, 3});
          },
          filled({2, 3}, 0)),
      made(
          "zeros", "f64_scalar", f64, [] { return zeros({}, f64); }, scalar(0)),
      made(
          "zeros", "i64_empty", i64,
          [] {
            return zeros({0, 2}, i64);
          },
          filled({0, 2}, 0)),
      made(
          "ones", "", f32, [] { return ones({4}); }, filled({4}, 1)),
      made(
          "ones", "bool", boolean, [] { return ones({4}, boolean); }, filled({4}, 1)),
      made(
          "full", "", f32,
          [] {
            return full({2, 2}, 2.5);
          },
          filled({2, 2}, 2.5)),
      made(
          "full", "i64", i64, [] { return full({2}, -7, i64); }, filled({2}, -7)),
      made(
          "full", "f64", f64, [] { return full({2}, 0.1, f64); }, filled({2}, 0.1)),
      made("eye", "", f32, [] { return eye(3); }, {{3, 3}, {1, 0, 0, 0, 1, 0, 0, 0, 1}}),
      made("eye", "f64", f64, [] { return eye(1, f64); }, {{1, 1}, {1}}),
      made("arange", "", i64, [] { return arange(4); }, {{4}, {0, 1, 2, 3}}),
      made("arange", "step", i64, [] { return arange(2, 9, 3); }, {{3}, {2, 5, 8}}),
      made("arange", "down", i64, [] { return arange(3, 0, -1); }, {{3}, {3, 2, 1}}),
      made("arange", "empty", i64, [] { return arange(3, 3); }, {{0}, {}}),
      made("arange", "float", f32, [] { return arange(0, 1, 0.25); }, {{4}, {0, .25, .5, .75}}),
      made("linspace", "", f32, [] { return linspace(-1, 1, 5); }, {{5}, {-1, -.5, 0, .5, 1}}),
      made("linspace", "one", f64, [] { return linspace(3, 4, 1, f64); }, {{1}, {3}}),
      made("tensor", "", f32,
           [] {
             return tensor({{1.0, 2.0, 3.0}, {4.5, 5.0, 6.0}});
           },
           {{2, 3}, {1, 2, 3, 4.5, 5, 6}}),
      made("tensor", "i64", i64,
           [] {
             return tensor({1, 2, -3});
           },
           {{3}, {1, 2, -3}}),
      made("tensor", "bool", boolean,
           [] {
             return tensor({true, false});
           },
           {{2}, {1, 0}}),
      made(
          "tensor", "scalar", f32, [] { return tensor(0.5); }, scalar(0.5)),
      made("tensor", "mixed", f32,
           [] {
             return tensor({1, 2.5});
           },
           {{2}, {1, 2.5}}),
      made("tensor", "f64", f64,
           [] {
             return tensor({{0.1}, {0.2}}, f64);
           },
           {{2, 1}, {0.1, 0.2}}),
      made("from_vector", "", f64,
           [] {
             return from_vector(std::vector<double>{1, 2, 3, 4, 5, 6}, {3, 2});
           },
           {{3, 2}, {1, 2, 3, 4, 5, 6}}),
      made("from_vector", "i64", i64,
           [] {
             return from_vector(std::vector<int64_t>{4, -5}, {2});
           },
           {{2}, {4, -5}}),
      made("from_data", "", f32,
           [] {
             const float v[] = {1, 2, 3};
             return from_data(v, {1, 3});
           },
           {{1, 3}, {1, 2, 3}}),
      alike("zeros_like", zeros_like, 0),
      alike("ones_like", ones_like, 1),
      alike(
          "full_like", [](const Tensor& x) { return full_like(x, 1.5); }, 1.5),
  };
  // What an uninitialised tensor holds is nobody's business; its shape and type are.
  OpCase blank = alike("empty_like", empty_like, 0);
  blank.naive = {};
  blank.property = [](const NaiveTensors& x, const NaiveTensor& y) {
    return y.shape == x[0].shape ? std::string() : "shape " + y.shape.str();
  };
  rows.push_back(std::move(blank));

  const auto bad = [&](const char* name, BadCase b) {
    for (OpCase& row : rows) {
      if (row.name == name && row.label.empty()) row.bad.push_back(b);
    }
  };
  bad("zeros", wrong(ErrorKind::shape, "negative", [] { return zeros({2, -1}); }));
  bad("zeros", wrong(ErrorKind::shape, "1099511627776", [] {
        return zeros({1LL << 40, 1LL << 40});
      }));
  bad("eye", wrong(ErrorKind::shape, "n is -1", [] { return eye(-1); }));
  bad("arange", wrong(ErrorKind::value, "arange", [] { return arange(0, 1, 0); }));
  bad("linspace", wrong(ErrorKind::shape, "steps is -1", [] { return linspace(0, 1, -1); }));
  bad("tensor", wrong(ErrorKind::shape, "tensor", [] { return tensor({{1, 2}, {3}}); }));
  bad("tensor", wrong(ErrorKind::shape, "tensor", [] { return tensor({{1, 2}, 3}); }));
  bad("from_vector", wrong(ErrorKind::shape, "from_vector", [] {
        return from_vector(std::vector<float>{1, 2, 3}, {2, 2});
      }));
  return rows;
}

}  // namespace fovea::cases
