#include "fovea/core/shape.h"

#include <gtest/gtest.h>

#include <array>

#include "fovea/core/error.h"

namespace fovea {
namespace {

TEST(Shapes, AreShortListsOfNumbers) {
  Shape s{2, 3, 4};
  EXPECT_EQ(s.rank(), 3);
  EXPECT_EQ(s.numel(), 24);
  EXPECT_EQ(s.back(), 4);
  EXPECT_EQ(s.str(), "[2, 3, 4]");
  s.insert(1, 7);
  EXPECT_EQ(s, (Shape{2, 7, 3, 4}));
  s.insert(4, 9);
  EXPECT_EQ(s, (Shape{2, 7, 3, 4, 9}));
  s.erase(0);
  EXPECT_EQ(s, (Shape{7, 3, 4, 9}));
  EXPECT_FALSE(s == (Shape{7, 3, 4}));
  EXPECT_EQ(Shape{}.numel(), 1);
  EXPECT_EQ(Shape{}.str(), "[]");
  EXPECT_EQ(Shape::filled(3, 5), (Shape{5, 5, 5}));
}

TEST(Shapes, RankIsAtMostEight) {
  Shape s = Shape::filled(8, 1);
  EXPECT_THROW(s.push_back(1), ShapeError);
  EXPECT_THROW(s.insert(0, 1), ShapeError);
  EXPECT_THROW(Shape(std::vector<int64_t>(9, 1)), ShapeError);
}

TEST(Shapes, CountsOfElementsNeverOverflow) {
  const int64_t big = int64_t{1} << 40;
  EXPECT_THROW((void)Shape({big, big}).numel(), ShapeError);
  EXPECT_THROW((void)Shape({3, -1}).numel(), ShapeError);
  EXPECT_THROW((void)Shape({0, -1}).numel(), ShapeError);
  EXPECT_EQ(Shape({big, big, 0}).numel(), 0);
  EXPECT_EQ(Shape({0, big, big}).numel(), 0);
}

TEST(Shapes, ContiguousStrides) {
  EXPECT_EQ(contiguous_strides({2, 3, 4}), (Strides{12, 4, 1}));
  EXPECT_EQ(contiguous_strides({5}), (Strides{1}));
  EXPECT_EQ(contiguous_strides({}).rank(), 0);
  EXPECT_EQ(contiguous_strides({2, 0, 4}).back(), 1);
}

TEST(Shapes, AxesCountFromEitherEnd) {
  EXPECT_EQ(normalize_axis("op", -1, 3), 2);
  EXPECT_EQ(normalize_axis("op", 0, 3), 0);
  EXPECT_EQ(normalize_axis("op", -1, 0), 0);
  EXPECT_THROW((void)normalize_axis("op", 3, 3), IndexError);
  EXPECT_THROW((void)normalize_axis("op", -4, 3), IndexError);
  try {
    (void)normalize_axis("sum", 5, 2);
    FAIL();
  } catch (const IndexError& e) {
    EXPECT_EQ(std::string(e.what()).rfind("sum: ", 0), 0u) << e.what();
  }
}

TEST(Shapes, Broadcasting) {
  EXPECT_EQ(broadcast_shapes("op", {2, 3}, {3}), (Shape{2, 3}));
  EXPECT_EQ(broadcast_shapes("op", {4, 1}, {1, 4}), (Shape{4, 4}));
  EXPECT_EQ(broadcast_shapes("op", {3, 1}, {2, 3, 4}), (Shape{2, 3, 4}));
  EXPECT_EQ(broadcast_shapes("op", {}, {5, 4}), (Shape{5, 4}));
  EXPECT_EQ(broadcast_shapes("op", {0, 3}, {1, 3}), (Shape{0, 3}));
  EXPECT_EQ(broadcast_shapes("op", {1}, {0}), (Shape{0}));
  EXPECT_THROW((void)broadcast_shapes("op", {0}, {2}), ShapeError);
  EXPECT_THROW((void)broadcast_shapes("op", {2, 3}, {2}), ShapeError);
  EXPECT_EQ(broadcast_strides({3, 1}, {1, 1}, {2, 3, 4}), (Strides{0, 1, 0}));
  EXPECT_EQ(broadcast_strides({2, 3}, {3, 1}, {2, 3}), (Strides{3, 1}));
}

TEST(Collapse, MergesAxesThatAreAdjacentForAllOperands) {
  const Strides plain{12, 4, 1}, turned{1, 2, 6}, row{0, 0, 1};
  const auto one = collapse<1>({2, 3, 4}, {&plain});
  EXPECT_EQ(one.rank, 1);
  EXPECT_EQ(one.row_length(), 24);
  EXPECT_EQ(one.rows, 1);
  const auto mixed = collapse<2>({2, 3, 4}, {&plain, &row});
  EXPECT_EQ(mixed.rank, 2);
  EXPECT_EQ(mixed.rows, 6);
  EXPECT_EQ(mixed.row_length(), 4);
  EXPECT_EQ(mixed.row_offsets(5)[0], 20);
  EXPECT_EQ(mixed.row_offsets(5)[1], 0);
  const auto crossed = collapse<2>({2, 3, 4}, {&plain, &turned});
  EXPECT_EQ(crossed.rank, 3);
  EXPECT_EQ(crossed.row_offsets(4)[0], 16);
  EXPECT_EQ(crossed.row_offsets(4)[1], 1 + 2);
}

TEST(Collapse, IgnoresTheStridesOfAxesOfSizeOne) {
  const Strides odd{12, 777, 4, 1};
  EXPECT_EQ(collapse<1>({2, 1, 3, 4}, {&odd}).rank, 1);
  const Strides none{};
  const auto point = collapse<1>({}, {&none});
  EXPECT_EQ(point.rows, 1);
  EXPECT_EQ(point.row_length(), 1);
}

}  // namespace
}  // namespace fovea
