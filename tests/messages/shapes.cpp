// Views, joins and rearrangements.
#include "tests/messages/refusals.h"

namespace fovea::messages {
namespace {

using Sizes = std::vector<int64_t>;

}  // namespace

std::vector<Refusal> of_shapes() {
  return {
      {"view",
       kShape,
       {"x is [2, 3]", "[4]", "6 elements"},
       [] {
         return view(floats({2, 3}), {4});
       }},
      {"view",
       kShape,
       {"x is [3, 2]", "strides [1, 3]", "use reshape"},
       [] {
         return view(transpose(floats({2, 3}), 0, 1), {6});
       }},
      {"view",
       kShape,
       {"[1099511627776, 1099511627776]"},
       [] {
         return view(floats({2}), {kHuge, kHuge});
       }},
      {"reshape",
       kShape,
       {"x is [2, 3]", "[4, -1]"},
       [] {
         return reshape(floats({2, 3}), {4, -1});
       }},
      {"reshape",
       kShape,
       {"[-1, -1]", "one may be -1"},
       [] {
         return reshape(floats({2}), {-1, -1});
       }},
      {"reshape", kShape, {"[-2]"}, [] { return reshape(floats({2}), {-2}); }},
      {"reshape",
       kShape,
       {"1099511627776"},
       [] {
         return reshape(floats({2}), {kHuge, kHuge, -1});
       }},
      {"flatten",
       kIndex,
       {"start is axis 2", "end is axis 1", "[2, 3, 4]"},
       [] {
         return flatten(floats({2, 3, 4}), 2, 1);
       }},
      {"permute",
       kShape,
       {"order is [0]", "x is [2, 3]"},
       [] {
         return permute(floats({2, 3}), {0});
       }},
      {"unsqueeze",
       kShape,
       {"x is [1, 1, 1, 1, 1, 1, 1, 1]", "9 axes", "the limit is 8"},
       [] { return unsqueeze(deep(), 0); }},
      {"expand", kShape, {"x is [3]", "[4]"}, [] { return expand(floats({3}), {4}); }},
      {"expand",
       kShape,
       {"x is [3, 1]", "[3]"},
       [] {
         return expand(floats({3, 1}), {3});
       }},
      {"expand", kShape, {"x is [3]", "[]"}, [] { return expand(floats({3}), {}); }},
      {"expand",
       kShape,
       {"[-1, 3]"},
       [] {
         return expand(floats({3}), {-1, 3});
       }},
      {"expand",
       kShape,
       {"memory"},
       [] {
         return expand(floats({1}), {kHuge, kHuge});
       }},
      {"broadcast_to", kShape, {"x is [3]", "[4]"}, [] { return broadcast_to(floats({3}), {4}); }},
      {"broadcast_to",
       kShape,
       {"memory"},
       [] {
         return broadcast_to(floats({1}), {kHuge, kHuge});
       }},
      {"select",
       kIndex,
       {"index 3", "axis 0 of x [3, 4]", "use -3 to 2"},
       [] {
         return select(floats({3, 4}), 0, 3);
       }},
      {"select",
       kIndex,
       {"index -5", "axis 1 of x [3, 4]"},
       [] {
         return select(floats({3, 4}), -1, -5);
       }},
      {"select", kIndex, {"index 0", "x [0]", "no element"}, [] { return floats({0})[0]; }},
      {"select", kIndex, {"x is []"}, [] { return floats({})[0]; }},
      {"slice", kValue, {"step is 0"}, [] { return slice(floats({3}), 0, 0, 3, 0); }},
      {"slice", kValue, {"step is -1"}, [] { return slice(floats({3}), 0, 0, 3, -1); }},
      {"slice", kIndex, {"x is []"}, [] { return slice(floats({}), 0); }},
      {"narrow",
       kIndex,
       {"start is 2", "length is 2", "axis 0 of x [3]"},
       [] { return narrow(floats({3}), 0, 2, 2); }},
      {"narrow", kIndex, {"length is -1"}, [] { return narrow(floats({3}), 0, 0, -1); }},
      {"narrow",
       kIndex,
       {"length is 9223372036854775807"},
       [] { return narrow(floats({3}), 0, 1, kMax); }},
      {"narrow", kIndex, {"start is -4"}, [] { return narrow(floats({3}), 0, -4, 1); }},
      {"split", kValue, {"size is 0"}, [] { return split(floats({3}), 0); }},
      {"split",
       kShape,
       {"sizes are [1, 3]", "x is [3]", "sum to 3"},
       [] {
         return split(floats({3}), Sizes{1, 3});
       }},
      {"split",
       kShape,
       {"sizes are [-1, 4]"},
       [] {
         return split(floats({3}), Sizes{-1, 4});
       }},
      {"split",
       kShape,
       {"9223372036854775807"},
       [] {
         return split(floats({3}), Sizes{kMax, kMax, 5});
       }},
      {"split",
       kShape,
       {"[1, 1, 1, 1, 1, 1, 1, 1, 1, 1]"},
       [] { return split(floats({3}), Sizes(10, 1)); }},
      {"chunk", kValue, {"chunks is 0"}, [] { return chunk(floats({3}), 0); }},
      {"unbind", kIndex, {"x is []"}, [] { return unbind(floats({})); }},

      {"cat", kShape, {"xs is empty"}, [] { return cat({}); }},
      {"cat", kShape, {"xs[0] is []"}, [] { return cat({floats({})}); }},
      {"cat",
       kShape,
       {"xs[0] is [2, 3]", "xs[1] is [2, 4]"},
       [] {
         return cat({floats({2, 3}), floats({2, 4})});
       }},
      {"cat",
       kShape,
       {"xs[1] is an undefined"},
       [] {
         return cat({floats({2}), Tensor()});
       }},
      {"stack", kShape, {"xs is empty"}, [] { return stack({}); }},
      {"stack",
       kShape,
       {"xs[0] is [2]", "xs[1] is [3]"},
       [] {
         return stack({floats({2}), floats({3})});
       }},
      {"stack", kShape, {"xs[0] is [1, 1", "9 axes"}, [] { return stack({deep()}); }},
      {"stack",
       kShape,
       {"xs[1] is an undefined"},
       [] {
         return stack({floats({2}), Tensor()});
       }},
      {"repeat",
       kShape,
       {"times is [2]", "x is [2, 3]"},
       [] {
         return repeat(floats({2, 3}), {2});
       }},
      {"repeat", kValue, {"times is [-1]"}, [] { return repeat(floats({2}), {-1}); }},
      {"repeat",
       kShape,
       {"times is [9223372036854775807]"},
       [] { return repeat(floats({2}), {kMax}); }},
      {"repeat",
       kShape,
       {"memory"},
       [] {
         return repeat(floats({1}), {kHuge, kHuge});
       }},
      {"pad", kShape, {"1 widths", "x [3]"}, [] { return pad(floats({3}), {1}); }},
      {"pad",
       kShape,
       {"4 widths", "x [3]"},
       [] {
         return pad(floats({3}), {1, 1, 1, 1});
       }},
      {"pad",
       kShape,
       {"widths -2 and -2 on axis 0 of x [3]"},
       [] {
         return pad(floats({3}), {-2, -2});
       }},
      {"pad",
       kShape,
       {"widths -4 and 1"},
       [] {
         return pad(floats({3}), {-4, 1});
       }},
      {"pad",
       kShape,
       {"-9223372036854775808"},
       [] {
         return pad(floats({3}), {kMin, kMin});
       }},
      {"pad",
       kShape,
       {"9223372036854775807"},
       [] {
         return pad(floats({3}), {kMax, kMax});
       }},
      {"pad",
       kShape,
       {"memory"},
       [] {
         return pad(floats({3, 3}), {kHuge, 0, kHuge, 0});
       }},
      {"pad",
       kValue,
       {"nan", "i64"},
       [] {
         return pad(integers({3}), {1, 1}, kNaN);
       }},
      {"unfold",
       kShape,
       {"size 4", "axis 0", "x [3]"},
       [] { return unfold(floats({3}), 0, 4, 1); }},
      {"unfold", kShape, {"step 0"}, [] { return unfold(floats({3}), 0, 2, 0); }},
      {"unfold", kShape, {"size 0"}, [] { return unfold(floats({3}), 0, 0, 1); }},
      {"unfold", kShape, {"9 axes"}, [] { return unfold(deep(), 0, 1, 1); }},
      {"diag",
       kShape,
       {"x is [2, 2, 2]"},
       [] {
         return diag(floats({2, 2, 2}));
       }},
      {"diag",
       kShape,
       {"k is -9223372036854775808", "x is [2]"},
       [] { return diag(floats({2}), kMin); }},
      {"tril", kShape, {"x is [3]"}, [] { return tril(floats({3})); }},
      {"triu", kShape, {"x is []"}, [] { return triu(floats({})); }},
      {"repeat_interleave",
       kValue,
       {"times is -1"},
       [] { return repeat_interleave(floats({3}), -1, 0); }},
      {"repeat_interleave",
       kShape,
       {"memory"},
       [] { return repeat_interleave(floats({3}), kMax, 0); }},
      {"meshgrid",
       kShape,
       {"xs[1] is [2, 2]"},
       [] {
         return meshgrid({floats({2}), floats({2, 2})});
       }},
      {"meshgrid", kShape, {"9 vectors"}, [] { return meshgrid(Tensors(9, floats({2}))); }},
      {"meshgrid", kShape, {"xs[0] is an undefined"}, [] { return meshgrid({Tensor()}); }},
  };
}

}  // namespace fovea::messages
