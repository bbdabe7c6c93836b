// Convolutions, pooling and sampling of images.
#include "tests/messages/refusals.h"

namespace fovea::messages {

std::vector<Refusal> of_images() {
  const auto image = [] { return floats({1, 2, 4, 5}); };
  const auto kernel = [] { return floats({2, 2, 3, 2}); };
  const auto line = [] { return floats({1, 2, 7}); };
  const auto taps = [] { return floats({2, 2, 3}); };
  return {
      {"conv2d",
       kShape,
       {"x is [1, 2, 4, 5]", "weight is [2, 3, 3, 2]", "bias is undefined"},
       [image] {
         return conv2d(image(), floats({2, 3, 3, 2}));
       }},
      {"conv2d",
       kShape,
       {"groups is 3", "weight is [2, 2, 3, 2]", "divide 2"},
       [image, kernel] { return conv2d(image(), kernel(), {}, {.groups = 3}); }},
      {"conv2d",
       kShape,
       {"groups is 4611686018427387904"},
       [image] {
         return conv2d(image(), floats({0, 2, 3, 2}), {}, {.groups = int64_t{1} << 62});
       }},
      {"conv2d",
       kShape,
       {"groups is 0"},
       [image, kernel] { return conv2d(image(), kernel(), {}, {.groups = 0}); }},
      {"conv2d",
       kValue,
       {"stride is 0x1", "kernel is 3x2"},
       [image, kernel] {
         return conv2d(image(), kernel(), {}, {.stride = {0, 1}});
       }},
      {"conv2d",
       kValue,
       {"padding is 0x-1"},
       [image, kernel] {
         return conv2d(image(), kernel(), {}, {.padding = {0, -1}});
       }},
      {"conv2d",
       kValue,
       {"padding is 9223372036854775807x0"},
       [image, kernel] {
         return conv2d(image(), kernel(), {}, {.padding = {kMax, 0}});
       }},
      {"conv2d",
       kValue,
       {"dilation is 1x0"},
       [image, kernel] {
         return conv2d(image(), kernel(), {}, {.dilation = {1, 0}});
       }},
      {"conv2d",
       kShape,
       {"x is [1, 2, 4, 5]", "kernel is 3x2", "dilation is 2x1"},
       [image, kernel] {
         return conv2d(image(), kernel(), {}, {.dilation = {2, 1}});
       }},
      {"conv2d",
       kShape,
       {"memory"},
       [image, kernel] {
         return conv2d(image(), kernel(), {}, {.padding = {1 << 30, 1 << 30}});
       }},
      {"conv2d",
       kDType,
       {"bias is i64 [2]", "f32"},
       [image, kernel] { return conv2d(image(), kernel(), integers({2})); }},
      {"conv1d",
       kShape,
       {"x is [1, 2, 7]", "weight is [2, 3, 3]", "x (B, C, T)"},
       [line] {
         return conv1d(line(), floats({2, 3, 3}));
       }},
      {"conv1d",
       kShape,
       {"x is [1, 2, 7]", "kernel is 3", "dilation is 4"},
       [line, taps] {
         return conv1d(line(), taps(), {}, {.dilation = {4, 1}});
       }},
      {"conv1d",
       kShape,
       {"groups is 3"},
       [line, taps] { return conv1d(line(), taps(), {}, {.groups = 3}); }},
      {"conv1d",
       kValue,
       {"stride is 0,"},
       [line, taps] {
         return conv1d(line(), taps(), {}, {.stride = {0, 1}});
       }},
      {"conv1d",
       kDType,
       {"weight is f64 [2, 2, 3]", "f32"},
       [line] {
         return conv1d(line(), doubles({2, 2, 3}));
       }},
      {"conv_transpose2d",
       kShape,
       {"x is [1, 2, 4, 5]", "weight is [3, 2, 3, 2]"},
       [image] {
         return conv_transpose2d(image(), floats({3, 2, 3, 2}));
       }},
      {"conv_transpose2d",
       kShape,
       {"groups is 3"},
       [image, kernel] { return conv_transpose2d(image(), kernel(), {}, {.groups = 3}); }},
      {"conv_transpose2d",
       kValue,
       {"stride is 0x1"},
       [image, kernel] {
         return conv_transpose2d(image(), kernel(), {}, {.stride = {0, 1}});
       }},
      {"conv_transpose2d",
       kShape,
       {"output_padding is 0x2", "stride is 1x1"},
       [image, kernel] {
         return conv_transpose2d(image(), kernel(), {}, {.output_padding = {0, 2}});
       }},
      {"conv_transpose2d",
       kShape,
       {"padding is 9x9"},
       [image, kernel] {
         return conv_transpose2d(image(), kernel(), {}, {.padding = {9, 9}});
       }},
      {"conv_transpose2d",
       kDType,
       {"x is i64"},
       [kernel] {
         return conv_transpose2d(integers({1, 2, 4, 5}), kernel());
       }},
      {"max_pool2d",
       kValue,
       {"stride is -1x1"},
       [image] {
         return max_pool2d(image(), {.stride = {-1, 1}});
       }},
      {"max_pool2d",
       kShape,
       {"x is [1, 1, 0, 4]"},
       [] {
         return max_pool2d(floats({1, 1, 0, 4}), {.padding = {1, 1}});
       }},
      {"avg_pool2d",
       kValue,
       {"kernel is 0x2"},
       [image] {
         return avg_pool2d(image(), {.kernel = {0, 2}});
       }},
      {"avg_pool2d",
       kValue,
       {"padding is 2x0", "kernel is 2x2"},
       [image] {
         return avg_pool2d(image(), {.padding = {2, 0}});
       }},
      {"avg_pool2d",
       kShape,
       {"x is [1, 2, 4, 5]", "kernel is 5x5"},
       [image] {
         return avg_pool2d(image(), {.kernel = {5, 5}});
       }},
      {"grid_sample",
       kDType,
       {"grid is f64 [1, 2, 2, 2]", "f32"},
       [image] {
         return grid_sample(image(), doubles({1, 2, 2, 2}));
       }},
      {"affine_grid",
       kShape,
       {"theta is [1, 2, 3]", "size 3x-1"},
       [] {
         return affine_grid(floats({1, 2, 3}), 3, -1);
       }},
      {"affine_grid",
       kShape,
       {"size 1099511627776x1099511627776"},
       [] {
         return affine_grid(floats({1, 2, 3}), kHuge, kHuge);
       }},
      {"affine_grid",
       kDType,
       {"theta is i64"},
       [] {
         return affine_grid(integers({1, 2, 3}), 3, 3);
       }},
      {"interpolate",
       kShape,
       {"x is [1, 2, 4, 5]", "size 0x3"},
       [image] { return interpolate(image(), 0, 3); }},
      {"interpolate",
       kShape,
       {"size 3x1099511627776"},
       [image] { return interpolate(image(), 3, kHuge); }},
      {"interpolate",
       kShape,
       {"x is [2, 3]"},
       [] {
         return interpolate(floats({2, 3}), 3, 3);
       }},
  };
}

}  // namespace fovea::messages
