// Products, normalisations and losses.
#include "tests/messages/refusals.h"

namespace fovea::messages {

std::vector<Refusal> of_layers() {
  const Tensor none;
  const auto x = [] { return floats({2, 3}); };
  const auto classes = [] { return integers({2}); };
  const auto near = [] { return floats({2}) * 0.5; };
  return {
      {"matmul",
       kShape,
       {"a is [2, 3]", "b is [4, 5]", "a.shape[-1] == b.shape[-2]"},
       [] {
         return matmul(floats({2, 3}), floats({4, 5}));
       }},
      {"matmul",
       kShape,
       {"a is [2, 3, 4]", "b is [5, 4, 2]"},
       [] {
         return matmul(floats({2, 3, 4}), floats({5, 4, 2}));
       }},
      {"matmul",
       kDType,
       {"b is i64 [3, 2]"},
       [x] {
         return matmul(x(), integers({3, 2}));
       }},
      {"linear",
       kDType,
       {"x is f32", "weight is f64"},
       [x] {
         return linear(x(), doubles({4, 3}));
       }},
      {"linear",
       kDType,
       {"bias is f64"},
       [x] {
         return linear(x(), floats({4, 3}), doubles({4}));
       }},
      {"linear",
       kDType,
       {"weight is i64 [4, 3]"},
       [x] {
         return linear(x(), integers({4, 3}));
       }},
      {"linear",
       kShape,
       {"x is []", "weight is [4, 3]"},
       [] {
         return linear(floats({}), floats({4, 3}));
       }},
      {"dot", kDType, {"a is i64 [2]"}, [] { return dot(integers({2}), floats({2})); }},
      {"outer", kDType, {"b is bool [2]"}, [] { return outer(floats({2}), bools({2})); }},
      {"bmm",
       kDType,
       {"a is i64 [1, 2, 3]"},
       [] {
         return bmm(integers({1, 2, 3}), floats({1, 3, 2}));
       }},
      {"einsum",
       kShape,
       {"\"ij,jk->ik\"", "[2, 3], [4, 2]", "'j' has sizes 3 and 4"},
       [x] {
         return einsum("ij,jk->ik", {x(), floats({4, 2})});
       }},
      {"einsum", kShape, {"names 1 operands, 0 were given"}, [] { return einsum("i->i", {}); }},
      {"einsum",
       kShape,
       {"operands[1] is an undefined"},
       [x, none] {
         return einsum("ij,j", {x(), none});
       }},
      {"einsum",
       kShape,
       {"has 10 axes", "the limit is 8"},
       [] {
         return einsum("abcde,fghij->abcdefghij",
                       {floats({1, 1, 1, 1, 1}), floats({1, 1, 1, 1, 1})});
       }},
      {"einsum", kShape, {"'>' is no letter"}, [x] { return einsum("ij->i>", {x()}); }},

      {"attention_weights",
       kShape,
       {"q is [2, 3]", "k is [2, 4]"},
       [x] {
         return attention_weights(x(), floats({2, 4}));
       }},
      {"layer_norm",
       kShape,
       {"weight is [2]", "x is [2, 3]", "[3]"},
       [x] { return layer_norm(x(), floats({2})); }},
      {"layer_norm",
       kDType,
       {"weight is f64 [3]", "f32"},
       [x] { return layer_norm(x(), doubles({3})); }},
      {"layer_norm", kShape, {"x is []"}, [] { return layer_norm(floats({})); }},
      {"layer_norm", kValue, {"eps is -1"}, [x] { return layer_norm(x(), {}, {}, -1); }},
      {"layer_norm", kValue, {"eps is nan"}, [x] { return layer_norm(x(), {}, {}, kNaN); }},
      {"rms_norm", kValue, {"eps is inf"}, [x] { return rms_norm(x(), {}, kInf); }},
      {"rms_norm",
       kDType,
       {"weight is i64 [3]", "f32"},
       [x] { return rms_norm(x(), integers({3})); }},
      {"batch_norm",
       kValue,
       {"momentum is 1.5"},
       [x, none] { return batch_norm(x(), none, none, {}, {}, {.momentum = 1.5}); }},
      {"batch_norm",
       kValue,
       {"momentum is nan"},
       [x, none] { return batch_norm(x(), none, none, {}, {}, {.momentum = kNaN}); }},
      {"batch_norm",
       kValue,
       {"eps is -1"},
       [x, none] { return batch_norm(x(), none, none, {}, {}, {.eps = -1}); }},
      {"batch_norm",
       kShape,
       {"running_mean is undefined", "running_var is [3]"},
       [x, none] { return batch_norm(x(), none, floats({3}), {}, {}, {.training = false}); }},
      {"batch_norm",
       kDType,
       {"running_var is f64 [3]"},
       [x, none] { return batch_norm(x(), none, doubles({3})); }},
      {"group_norm", kShape, {"x is [2, 3]", "groups is 2"}, [x] { return group_norm(x(), 2); }},
      {"group_norm", kShape, {"groups is 0"}, [x] { return group_norm(x(), 0); }},
      {"group_norm", kValue, {"eps is nan"}, [x] { return group_norm(x(), 3, {}, {}, kNaN); }},
      {"gumbel_softmax", kValue, {"tau is 0"}, [x] { return gumbel_softmax(x(), 0); }},
      {"gumbel_softmax", kValue, {"tau is nan"}, [x] { return gumbel_softmax(x(), kNaN); }},
      {"gumbel_softmax", kValue, {"tau is inf"}, [x] { return gumbel_softmax(x(), kInf); }},
      {"gumbel_softmax", kDType, {"x is i64 [2]"}, [] { return gumbel_softmax(integers({2})); }},
      {"dropout", kValue, {"p is 1.5"}, [x] { return dropout(x(), 1.5); }},
      {"dropout", kValue, {"p is nan"}, [x] { return dropout(x(), kNaN, false); }},
      {"dropout", kDType, {"x is i64 [2]"}, [] { return dropout(integers({2}), 0.5); }},

      {"cross_entropy",
       kIndex,
       {"target is 1 at element 0 of [2]", "logits is [2, 1]", "need 0 to 0"},
       [classes] {
         return cross_entropy(floats({2, 1}), classes());
       }},
      {"cross_entropy",
       kValue,
       {"label_smoothing is nan"},
       [x, classes] { return cross_entropy(x(), classes(), {.label_smoothing = kNaN}); }},
      {"cross_entropy",
       kDType,
       {"logits is i64 [2, 3]"},
       [classes] {
         return cross_entropy(integers({2, 3}), classes());
       }},
      {"nll_loss",
       kShape,
       {"log_probs is []", "target is [2]"},
       [classes] { return nll_loss(floats({}), classes()); }},
      {"nll_loss",
       kDType,
       {"target is f32 [2]", "i64"},
       [x] { return nll_loss(x(), floats({2})); }},
      {"mse_loss", kDType, {"x is i64 [2]"}, [] { return mse_loss(integers({2}), floats({2})); }},
      {"l1_loss",
       kShape,
       {"x is [2, 3]", "target is [3]"},
       [x] { return l1_loss(x(), floats({3})); }},
      {"huber_loss", kValue, {"delta is 0"}, [near] { return huber_loss(near(), near(), 0); }},
      {"huber_loss", kValue, {"delta is nan"}, [near] { return huber_loss(near(), near(), kNaN); }},
      {"huber_loss", kValue, {"delta is inf"}, [near] { return huber_loss(near(), near(), kInf); }},
      {"kl_div",
       kShape,
       {"log_x is [2]", "target is [2, 3]"},
       [x, near] { return kl_div(near(), x()); }},
      {"kl_div", kDType, {"log_x is bool [2]"}, [near] { return kl_div(bools({2}), near()); }},
      {"binary_cross_entropy",
       kShape,
       {"p is [2]", "target is [2, 3]"},
       [x, near] { return binary_cross_entropy(near(), x()); }},
      {"binary_cross_entropy",
       kValue,
       {"p [2]", "outside [0, 1]"},
       [near] { return binary_cross_entropy(near() * kNaN, near()); }},
      {"binary_cross_entropy_with_logits",
       kDType,
       {"target is i64 [2]"},
       [near, classes] { return binary_cross_entropy_with_logits(near(), classes()); }},
  };
}

}  // namespace fovea::messages
