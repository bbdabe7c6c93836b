// Elementwise operations, reductions and orders.
#include "tests/messages/refusals.h"

namespace fovea::messages {
namespace {

// A tensor that shows one element 2^59 times.
Tensor endless(bool column) {
  const Tensor one = ones({1, 1});
  return column ? expand(one, {int64_t{1} << 59, 1}) : expand(one, {1, int64_t{1} << 59});
}

}  // namespace

std::vector<Refusal> of_elements() {
  const Tensor none;
  return {
      {"elu", kValue, {"alpha is nan"}, [] { return elu(floats({2}), kNaN); }},
      {"elu", kValue, {"alpha is inf"}, [] { return elu(floats({2}), kInf); }},
      {"leaky_relu", kValue, {"slope is nan"}, [] { return leaky_relu(floats({2}), kNaN); }},
      {"leaky_relu", kDType, {"x is i64 [2]"}, [] { return leaky_relu(integers({2})); }},
      {"hardtanh", kValue, {"low is 1", "high is -1"}, [] { return hardtanh(floats({2}), 1, -1); }},
      {"hardtanh", kValue, {"low is nan"}, [] { return hardtanh(floats({2}), kNaN, 1); }},
      {"hardtanh", kDType, {"x is bool [2]"}, [] { return hardtanh(bools({2})); }},
      {"clamp", kValue, {"low is 2", "high is 1"}, [] { return clamp(floats({2}), 2, 1); }},
      {"clamp", kValue, {"high is nan"}, [] { return clamp(floats({2}), 0, kNaN); }},

      {"add",
       kShape,
       {"a is [2, 3]", "b is [4]"},
       [] {
         return floats({2, 3}) + floats({4});
       }},
      {"add", kShape, {"memory"}, [] { return add(endless(true), endless(false)); }},
      {"where",
       kShape,
       {"memory"},
       [] { return where(bools({1}), endless(true), endless(false)); }},
      {"floor_divide",
       kValue,
       {"b is i64 [2]", "zero"},
       [] {
         return floor_divide(integers({2}), tensor({1, 0}));
       }},
      {"floor_divide", kValue, {"b is i64 []"}, [] { return floor_divide(integers({2}), 0); }},
      {"floor_divide",
       kValue,
       {"b is i64 [2]"},
       [] { return floor_divide(bools({2}), zeros({2}, boolean)); }},
      {"remainder",
       kValue,
       {"b is i64 [1]", "zero"},
       [] { return remainder(integers({2}), zeros({1}, i64)); }},
      {"remainder",
       kShape,
       {"a is [2]", "b is [3]"},
       [] { return remainder(floats({2}), floats({3})); }},
      {"atan2", kShape, {"y is [2]", "x is [3]"}, [] { return atan2(floats({2}), floats({3})); }},
      {"lerp",
       kShape,
       {"a is [2]", "b is [3]", "weight is []"},
       [] { return lerp(floats({2}), floats({3}), floats({})); }},
      {"lerp",
       kShape,
       {"a is [2]", "b is [3]"},
       [] { return lerp(floats({2}), floats({3}), 0.5); }},
      {"eq", kShape, {"a is [2]", "b is [3]"}, [] { return floats({2}) == floats({3}); }},
      {"logical_not", kDType, {"a is f32 [2]"}, [] { return logical_not(floats({2})); }},
      {"logical_and",
       kDType,
       {"b is i64 [2]"},
       [] { return logical_and(bools({2}), integers({2})); }},
      {"logical_and",
       kShape,
       {"a is [2]", "b is [3]"},
       [] { return logical_and(bools({2}), bools({3})); }},
      {"logical_or", kDType, {"a is f64 [2]"}, [] { return logical_or(doubles({2}), bools({2})); }},
      {"logical_or",
       kShape,
       {"a is [2]", "b is [3]"},
       [] { return logical_or(bools({2}), bools({3})); }},
      {"allclose",
       kShape,
       {"a is [2]", "b is [3]"},
       [] { return allclose(floats({2}), floats({3})); }},
      {"allclose", kValue, {"rtol is -1"}, [] { return allclose(floats({2}), floats({2}), -1); }},
      {"allclose",
       kValue,
       {"atol is nan"},
       [] { return allclose(floats({2}), floats({2}), 0, kNaN); }},
      {"where",
       kDType,
       {"condition is f32 [2]"},
       [] { return where(floats({2}), floats({2}), floats({2})); }},
      {"where",
       kShape,
       {"condition is [3]", "a is [2]", "b is []"},
       [] { return where(bools({3}), floats({2}), floats({})); }},
      {"masked_fill",
       kShape,
       {"x is [2]", "mask is [3]"},
       [] { return masked_fill(floats({2}), bools({3}), 0); }},
      {"masked_fill",
       kValue,
       {"nan", "i64"},
       [] { return masked_fill(integers({2}), bools({2}), kNaN); }},

      {"mean", kDType, {"x is i64 [2]"}, [] { return mean(integers({2})); }},
      {"mean",
       kShape,
       {"x is [2, 0]", "axes [1]"},
       [] {
         return mean(floats({2, 0}), 1);
       }},
      {"var", kDType, {"x is bool [2]"}, [] { return var(bools({2})); }},
      {"var",
       kValue,
       {"correction is 3", "x [2, 3]", "3 elements along axes [1]"},
       [] {
         return var(floats({2, 3}), 1, 3);
       }},
      {"var", kValue, {"correction is -1"}, [] { return var(floats({3}), 0, -1); }},
      {"std", kValue, {"correction is 1", "x [1]"}, [] { return std(floats({1})); }},
      {"std", kDType, {"x is i64 [2]"}, [] { return std(integers({2})); }},
      {"std", kShape, {"x is [0]"}, [] { return std(floats({0})); }},
      {"amax",
       kShape,
       {"x is [0, 3]", "axes [0]"},
       [] {
         return amax(floats({0, 3}), 0);
       }},
      {"amin",
       kShape,
       {"x is [0, 3]"},
       [] {
         return amin(floats({0, 3}), 0);
       }},
      {"max", kShape, {"x is [0]"}, [] { return max(floats({0})); }},
      {"max", kShape, {"x is [0]"}, [] { return max(floats({0}), 0); }},
      {"min",
       kShape,
       {"x is [2, 0]"},
       [] {
         return min(floats({2, 0}));
       }},
      {"argmax",
       kShape,
       {"x is [2, 0]"},
       [] {
         return argmax(floats({2, 0}));
       }},
      {"argmin",
       kShape,
       {"x is [2, 0]"},
       [] {
         return argmin(floats({2, 0}), 1);
       }},
      {"any", kDType, {"x is f32 [2]"}, [] { return any(floats({2})); }},
      {"all", kDType, {"x is i64 [2]"}, [] { return all(integers({2})); }},
      {"norm", kDType, {"x is i64 [2]"}, [] { return norm(integers({2})); }},
      {"norm", kValue, {"p is 0"}, [] { return norm(floats({2}), 0); }},
      {"norm", kValue, {"p is nan"}, [] { return norm(floats({2}), kNaN); }},
      {"topk", kValue, {"k is -1"}, [] { return topk(floats({2}), -1); }},
      {"topk", kIndex, {"k is 3", "axis 0 of x [2]"}, [] { return topk(floats({2}), 3); }},
      {"topk", kValue, {"k is 0", "x is []"}, [] { return topk(floats({}), 0); }},
      {"kthvalue", kValue, {"k is 0"}, [] { return kthvalue(floats({2}), 0); }},
      {"kthvalue", kIndex, {"k is 3", "axis 0 of x [2]"}, [] { return kthvalue(floats({2}), 3); }},
      {"unique", kDType, {"x is f32 [2]"}, [] { return unique(floats({2})); }},

      // overloads with a number, which the case table does not call without a tensor
      {"add", kShape, {"a is an undefined"}, [none] { return add(none, 2); }},
      {"sub", kShape, {"a is an undefined"}, [none] { return none - 2; }},
      {"sub", kShape, {"b is an undefined"}, [none] { return 2 - none; }},
      {"mul", kShape, {"a is an undefined"}, [none] { return none * 2; }},
      {"div", kShape, {"a is an undefined"}, [none] { return none / 2; }},
      {"div", kShape, {"b is an undefined"}, [none] { return 2.0 / none; }},
      {"floor_divide", kShape, {"a is an undefined"}, [none] { return floor_divide(none, 2); }},
      {"pow", kShape, {"a is an undefined"}, [none] { return pow(none, 2); }},
      {"eq", kShape, {"a is an undefined"}, [none] { return none == 2; }},
      {"ne", kShape, {"a is an undefined"}, [none] { return none != 2; }},
      {"lt", kShape, {"a is an undefined"}, [none] { return none < 2; }},
      {"le", kShape, {"a is an undefined"}, [none] { return none <= 2; }},
      {"gt", kShape, {"a is an undefined"}, [none] { return none > 2; }},
      {"ge", kShape, {"a is an undefined"}, [none] { return none >= 2; }},
  };
}

}  // namespace fovea::messages
