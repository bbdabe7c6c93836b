#include "fovea/io/batches.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <numeric>

#include "fovea/core/random.h"
#include "fovea/io/vocabulary.h"
#include "fovea/ops/ops.h"
#include "tests/io/temp_dir.h"

namespace fovea {
namespace {

using ::testing::HasSubstr;
using testing::message_of;
using Ids = std::vector<int32_t>;
using Order = std::vector<int64_t>;

// n pairs whose lengths come in every mixture.
PairCorpus corpus_of(int64_t n) {
  PairCorpus c;
  for (int64_t i = 0; i < n; ++i) {
    const auto id = static_cast<int32_t>(4 + i);
    c.add(Ids(static_cast<size_t>(1 + i * 7 % 11), id), Ids(static_cast<size_t>(i * 5 % 13), id));
  }
  return c;
}

TEST(Batches, PadsAndShifts) {
  PairCorpus c;
  c.add(Ids{10, 11, 12}, Ids{20});
  c.add(Ids{13}, Ids{21, 22});
  c.add(Ids{14, 15}, Ids{});
  const PairBatches batches(c, {.shuffle = false});
  const PairBatch b = batches.make(Order{1, 0, 2});
  EXPECT_TRUE(equal(b.source, tensor({{13, 0, 0}, {10, 11, 12}, {14, 15, 0}})));
  EXPECT_TRUE(equal(b.target_in, tensor({{2, 21, 22}, {2, 20, 0}, {2, 0, 0}})));
  EXPECT_TRUE(equal(b.target_out, tensor({{21, 22, 3}, {20, 3, 0}, {3, 0, 0}})));
  EXPECT_TRUE(equal(b.source_length, tensor({1, 3, 2})));
  EXPECT_TRUE(equal(b.target_length, tensor({3, 2, 1})));
  EXPECT_TRUE(equal(b.indices, tensor({1, 0, 2})));
  EXPECT_EQ(b.source.dtype(), i64);
  EXPECT_EQ(b.source_tokens, 6);
  EXPECT_EQ(b.target_tokens, 6);
  EXPECT_EQ(b.size(), 3);
  EXPECT_EQ(batches.make(Order{}).source.shape(), Shape({0, 0}));
}

TEST(Batches, InOrder) {
  const PairCorpus c = corpus_of(10);
  const BatchPlan plan = PairBatches(c, {.batch_size = 4, .shuffle = false}).plan(3);
  Order all(10);
  std::iota(all.begin(), all.end(), 0);
  EXPECT_EQ(plan.order, all);
  EXPECT_EQ(plan.first, Order({0, 4, 8, 10}));
}

// Padding, as a share of all: with windows it is far less than without.
TEST(Batches, SortsByLengthWithinWindows) {
  const PairCorpus c = corpus_of(1000);
  const auto padding = [&](int64_t window) {
    const PairBatches batches(c, {.batch_size = 10, .window = window, .seed = 1});
    const BatchPlan plan = batches.plan(0);
    int64_t all = 0, used = 0;
    for (int64_t i = 0; i < plan.size(); ++i) {
      const PairBatch b = batches.make(plan[i]);
      all += b.source.numel() + b.target_in.numel();
      used += b.source_tokens + b.target_tokens;
    }
    return 1 - static_cast<double>(used) / static_cast<double>(all);
  };
  EXPECT_LT(padding(20), 0.6 * padding(1));
  EXPECT_LT(padding(int64_t{1} << 62), 0.2 * padding(1));
}

TEST(Batches, DependOnSeedAndEpochAlone) {
  const PairCorpus c = corpus_of(100);
  const BatchOptions o{.batch_size = 8, .window = 3, .seed = 5};
  const PairBatches batches(c, o);
  const BatchPlan plan = batches.plan(2);
  manual_seed(77);
  EXPECT_EQ(randn({3}).numel(), 3);
  EXPECT_EQ(PairBatches(c, o).plan(2).order, plan.order);
  EXPECT_EQ(batches.plan(2).order, plan.order);
  EXPECT_NE(batches.plan(1).order, plan.order);
  BatchOptions other = o;
  other.seed = 6;
  EXPECT_NE(PairBatches(c, other).plan(2).order, plan.order);
  // The batches are shuffled, not only what is in them: their lengths do not rise.
  std::vector<int64_t> lengths;
  for (int64_t b = 0; b < plan.size(); ++b) lengths.push_back(c.target.length(plan[b][0]));
  EXPECT_FALSE(std::is_sorted(lengths.begin(), lengths.end()));
}

RC_GTEST_PROP(Batches, EveryPairOnceAnEpoch, ()) {
  const int64_t n = *rc::gen::inRange(1, 200);
  const PairCorpus c = corpus_of(n);
  const BatchOptions o{.batch_size = *rc::gen::inRange(1, 30),
                       .max_tokens = *rc::gen::element(0, 1, 20, 100),
                       .shuffle = *rc::gen::arbitrary<bool>(),
                       .window = *rc::gen::inRange(1, 8),
                       .seed = *rc::gen::arbitrary<uint64_t>()};
  const PairBatches batches(c, o);
  const int64_t epoch = *rc::gen::inRange(0, 5);
  const BatchPlan plan = batches.plan(epoch);
  RC_ASSERT(batches.count(epoch) == plan.size());
  Order seen;
  int64_t full = 0;
  for (int64_t i = 0; i < plan.size(); ++i) {
    const PairBatch b = batches.make(plan[i]);
    RC_ASSERT(b.size() >= 1);
    RC_ASSERT(b.size() <= o.batch_size);
    full += b.size() == o.batch_size;
    const int64_t longest = std::max(b.source.size(1), b.target_in.size(1));
    RC_ASSERT(o.max_tokens == 0 || b.size() == 1 || b.size() * longest <= o.max_tokens);
    const Order pairs = b.indices.to_vector<int64_t>();
    seen.insert(seen.end(), pairs.begin(), pairs.end());
  }
  RC_ASSERT(o.max_tokens > 0 || full == n / o.batch_size);
  std::sort(seen.begin(), seen.end());
  Order all(static_cast<size_t>(n));
  std::iota(all.begin(), all.end(), 0);
  RC_ASSERT(seen == all);
}

TEST(Batches, RefusesWhatHasNoBatches) {
  const PairCorpus good = corpus_of(3), empty;
  PairCorpus uneven = corpus_of(2), hollow = corpus_of(2);
  uneven.source.add(Ids{4});
  hollow.add(Ids{}, Ids{4});
  EXPECT_THAT(message_of<ValueError>([&] { PairBatches{empty}; }), HasSubstr("0 sources"));
  EXPECT_THAT(message_of<ValueError>([&] { PairBatches{uneven}; }),
              HasSubstr("3 sources and 2 targets"));
  EXPECT_THAT(message_of<ValueError>([&] { PairBatches{hollow}; }),
              HasSubstr("source of pair 2 is empty"));
  for (const BatchOptions& o :
       {BatchOptions{.batch_size = 0}, BatchOptions{.window = 0}, BatchOptions{.max_tokens = -1}}) {
    EXPECT_THROW(PairBatches(good, o), ValueError);
  }
  const PairBatches batches(good);
  EXPECT_THROW(batches.plan(-1), ValueError);
  EXPECT_THROW(batches.make(Order{3}), IndexError);
  EXPECT_THROW(batches.make(Order{-1}), IndexError);
}

}  // namespace
}  // namespace fovea
