// Looking up and writing by index and by mask.
#include "tests/messages/refusals.h"

namespace fovea::messages {
namespace {

Tensor at(const std::vector<int64_t>& places) {
  return from_vector(places, {static_cast<int64_t>(places.size())});
}

}  // namespace

std::vector<Refusal> of_indexing() {
  return {
      {"gather",
       kIndex,
       {"index is 3 at [0, 1]", "axis 1 of x [2, 3] has size 3", "use 0 to 2"},
       [] {
         return gather(floats({2, 3}), 1, tensor({{0, 3}}));
       }},
      {"gather",
       kIndex,
       {"index is 0", "axis 0 of x [0]"},
       [] { return gather(floats({0}), 0, at({0})); }},
      {"gather",
       kShape,
       {"index is []", "x is []"},
       [] { return gather(floats({}), 0, integers({})); }},
      {"scatter_add",
       kDType,
       {"src is f64 [1]", "f32"},
       [] { return scatter_add(floats({2}), 0, at({1}), doubles({1})); }},
      {"scatter_add",
       kDType,
       {"x [2] and src [1] are bool"},
       [] { return scatter_add(bools({2}), 0, at({1}), bools({1})); }},
      {"scatter_add",
       kShape,
       {"x is [3]", "index is [2]", "src is [1]"},
       [] {
         return scatter_add(floats({3}), 0, at({0, 1}), floats({1}));
       }},
      {"scatter",
       kShape,
       {"x is []", "index is []"},
       [] { return scatter(floats({}), 0, integers({}), floats({})); }},
      {"index_select",
       kShape,
       {"index is [1, 1]", "x is [2]"},
       [] {
         return index_select(floats({2}), 0, integers({1, 1}));
       }},
      {"index_put_add",
       kDType,
       {"values is i64 [1]", "f32"},
       [] { return index_put_add(floats({2}), at({0}), integers({1})); }},
      {"index_put_add",
       kDType,
       {"x [2] is bool"},
       [] { return index_put_add(bools({2}), at({0}), bools({1})); }},
      {"masked_select",
       kShape,
       {"x is [2]", "mask is [3]"},
       [] { return masked_select(floats({2}), bools({3})); }},
      {"embedding",
       kIndex,
       {"ids is 2 at [1]", "axis 0 of weight [2, 3]", "use 0 to 1"},
       [] {
         return embedding(floats({2, 3}), at({0, 2}));
       }},
      {"embedding",
       kIndex,
       {"padding_idx is 2", "weight is [2, 3]"},
       [] {
         return embedding(floats({2, 3}), at({0}), 2);
       }},
      {"embedding",
       kIndex,
       {"padding_idx is -2"},
       [] {
         return embedding(floats({2, 3}), at({0}), -2);
       }},
      {"embedding",
       kShape,
       {"ids is [1, 1", "9 axes"},
       [] {
         return embedding(floats({2, 3}), to(deep(), i64));
       }},
      {"one_hot", kValue, {"classes is 0"}, [] { return one_hot(at({0}), 0); }},
      {"one_hot",
       kIndex,
       {"x is 4 at [1]", "use 0 to 3"},
       [] {
         return one_hot(at({0, 4}), 4);
       }},
      {"one_hot", kShape, {"x is [1, 1", "9 axes"}, [] { return one_hot(to(deep(), i64), 4); }},
      {"one_hot",
       kShape,
       {"memory"},
       [] {
         return one_hot(at({0, 4}), kMax);
       }},
  };
}

}  // namespace fovea::messages
