// Tensors from nothing, and random ones.
#include "tests/messages/refusals.h"

namespace fovea::messages {
namespace {

// A number in nine lists.
Values nested() {
  Values v = 1;
  for (int depth = 0; depth <= kMaxRank; ++depth) {
    Values outer = 0;
    outer.list.push_back(v);
    outer.is_list = true;
    v = outer;
  }
  return v;
}

}  // namespace

std::vector<Refusal> of_creation() {
  using V = std::vector<float>;
  using Sizes = std::vector<int64_t>;
  return {
      {"zeros",
       kShape,
       {"[2, -1]", "at least 0"},
       [] {
         return zeros({2, -1});
       }},
      {"zeros",
       kShape,
       {"[1099511627776, 1099511627776]"},
       [] {
         return zeros({kHuge, kHuge});
       }},
      // strides would overflow although there is no element
      {"zeros",
       kShape,
       {"[0, 1099511627776"},
       [] {
         return zeros({0, kHuge, kHuge});
       }},
      // while the shape is made, before there is an operation to name
      {"shape", kShape, {"rank 9", "limit of 8"}, [] { return zeros(Sizes(9, 1)); }},
      {"ones", kShape, {"[-3]"}, [] { return ones({-3}); }},
      {"ones",
       kShape,
       {"memory"},
       [] {
         return ones({kHuge, kHuge});
       }},
      {"full", kShape, {"[-3]"}, [] { return full({-3}, 1.5); }},
      {"full", kValue, {"nan", "i64"}, [] { return full({2}, kNaN, i64); }},
      {"full", kValue, {"1e+19", "i64"}, [] { return full({2}, 1e19, i64); }},
      {"full_like", kValue, {"inf", "i64"}, [] { return full_like(integers({2}), kInf); }},
      {"eye", kShape, {"n is -1", "at least 0"}, [] { return eye(-1); }},
      {"eye", kShape, {"[1099511627776, 1099511627776]"}, [] { return eye(kHuge); }},
      {"arange", kValue, {"start is 0", "end is 1", "step is 0"}, [] { return arange(0, 1, 0); }},
      {"arange", kValue, {"end is -4", "step is 1"}, [] { return arange(-4); }},
      {"arange", kValue, {"step is -1"}, [] { return arange(0, 5, -1); }},
      {"arange", kValue, {"step is 0"}, [] { return arange(0.0, 1.0, 0.0); }},
      {"arange", kValue, {"end is nan"}, [] { return arange(kNaN); }},
      {"arange", kValue, {"end is inf"}, [] { return arange(0, kInf); }},
      {"arange", kValue, {"step is nan"}, [] { return arange(0, 1, kNaN); }},
      {"arange", kShape, {"memory"}, [] { return arange(kMin, kMax, 1); }},
      {"arange", kShape, {"memory"}, [] { return arange(0, 1e30, 1); }},
      {"linspace", kShape, {"steps is -1"}, [] { return linspace(0, 1, -1); }},
      {"linspace", kShape, {"memory"}, [] { return linspace(0, 1, kMax); }},
      {"linspace", kValue, {"start is nan"}, [] { return linspace(kNaN, 1, 3); }},
      {"linspace", kValue, {"end is inf"}, [] { return linspace(0, kInf, 3); }},
      {"linspace", kValue, {"start is -1.7e+308"}, [] { return linspace(-1.7e308, 1.7e308, 3); }},
      {"linspace", kDType, {"dtype is i64"}, [] { return linspace(0, 1, 3, i64); }},
      {"tensor",
       kShape,
       {"depth 1", "has 1 elements", "first has 2"},
       [] {
         return tensor({{1, 2}, {3}});
       }},
      {"tensor",
       kShape,
       {"depth 1", "shape is [2, 2]"},
       [] {
         return tensor({{1, 2}, 3});
       }},
      {"tensor",
       kShape,
       {"depth 1", "shape is [2]"},
       [] {
         return tensor({1, {2, 3}});
       }},
      {"tensor", kShape, {"8 deep"}, [] { return tensor(nested()); }},
      {"tensor",
       kValue,
       {"nan", "i64"},
       [] {
         return tensor({1.0, kNaN}, i64);
       }},
      {"from_vector",
       kShape,
       {"shape is [2, 2] with 4", "values has 3"},
       [] {
         return from_vector(V{1, 2, 3}, {2, 2});
       }},
      {"from_vector", kShape, {"[-1]"}, [] { return from_vector(V{1}, {-1}); }},
      {"from_data",
       kValue,
       {"values is null", "shape is [2]"},
       [] { return from_data(static_cast<const float*>(nullptr), {2}); }},
      {"from_data",
       kShape,
       {"[2, -2]"},
       [] {
         return from_data(static_cast<const float*>(nullptr), {2, -2});
       }},

      {"rand", kShape, {"[-2]"}, [] { return rand({-2}); }},
      {"rand", kDType, {"dtype is i64"}, [] { return rand({2}, i64); }},
      {"randn", kShape, {"[-2]"}, [] { return randn({-2}); }},
      {"randn", kDType, {"dtype is bool"}, [] { return randn({2}, boolean); }},
      {"uniform", kShape, {"[-2]"}, [] { return uniform({-2}, 1, 1); }},
      {"uniform", kDType, {"dtype is i64"}, [] { return uniform({2}, 0, 1, i64); }},
      {"uniform", kValue, {"low is 1", "high is 0"}, [] { return uniform({2}, 1, 0); }},
      {"uniform", kValue, {"low is nan"}, [] { return uniform({2}, kNaN, 0); }},
      {"uniform", kValue, {"high is inf"}, [] { return uniform({2}, 0, kInf); }},
      {"uniform", kValue, {"high is 1e+300", "f32"}, [] { return uniform({2}, 0, 1e300); }},
      {"normal", kShape, {"[-2]"}, [] { return normal(0, 1, {-2}); }},
      {"normal", kDType, {"dtype is i64"}, [] { return normal(0, 1, {2}, i64); }},
      {"normal", kValue, {"std is -1"}, [] { return normal(0, -1, {2}); }},
      {"normal", kValue, {"mean is nan"}, [] { return normal(kNaN, 1, {2}); }},
      {"normal", kValue, {"std is inf"}, [] { return normal(0, kInf, {2}); }},
      {"normal", kValue, {"std is 1e+300", "f32"}, [] { return normal(0, 1e300, {2}); }},
      {"rand_like", kDType, {"x is i64 [2]"}, [] { return rand_like(integers({2})); }},
      {"randn_like", kDType, {"x is bool [2]"}, [] { return randn_like(bools({2})); }},
      {"randint", kValue, {"low is 3", "high is 3"}, [] { return randint(3, 3, {2}); }},
      {"randint", kShape, {"[-2]"}, [] { return randint(0, 3, {-2}); }},
      {"randperm", kValue, {"n is -1"}, [] { return randperm(-1); }},
      {"randperm", kShape, {"memory"}, [] { return randperm(kMax); }},
      {"bernoulli",
       kValue,
       {"p is 1.5 at element 1 of [2]"},
       [] {
         return bernoulli(tensor({1.0, 1.5}));
       }},
      {"bernoulli", kValue, {"p is nan"}, [] { return bernoulli(full({1}, kNaN)); }},
      {"bernoulli", kDType, {"p is i64 [2]"}, [] { return bernoulli(integers({2})); }},
      {"multinomial", kShape, {"p is []"}, [] { return multinomial(floats({}), 1); }},
      {"multinomial", kValue, {"n is -1"}, [] { return multinomial(floats({3}), -1); }},
      {"multinomial", kShape, {"memory"}, [] { return multinomial(floats({3}), kMax, true); }},
      {"multinomial",
       kValue,
       {"3 positive weights", "n = 4"},
       [] { return multinomial(floats({3}), 4); }},
      {"multinomial",
       kValue,
       {"p is -1 at class 1 of row 0"},
       [] {
         return multinomial(tensor({1.0, -1.0}), 1);
       }},
      {"multinomial", kDType, {"p is i64 [3]"}, [] { return multinomial(integers({3}), 1); }},
  };
}

}  // namespace fovea::messages
