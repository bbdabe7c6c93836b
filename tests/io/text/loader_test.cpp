#include "fovea/io/loader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>

#include "fovea/ops/ops.h"
#include "tests/io/temp_dir.h"

namespace fovea {
namespace {

using ::testing::HasSubstr;
using testing::message_of;

PairCorpus small_corpus(int32_t n) {
  PairCorpus c;
  for (int32_t i = 0; i < n; ++i) {
    const std::vector<int32_t> ids(static_cast<size_t>(1 + i % 5), 4 + i);
    c.add(ids, ids);
  }
  return c;
}

// The pairs of the batches that come, and -1 for the end of an epoch.
std::vector<int64_t> walked(BatchLoader& loader, int calls) {
  std::vector<int64_t> seen;
  for (int i = 0; i < calls; ++i) {
    const auto batch = loader.next();
    if (!batch) {
      seen.push_back(-1);
      continue;
    }
    const auto pairs = batch->indices.to_vector<int64_t>();
    seen.insert(seen.end(), pairs.begin(), pairs.end());
  }
  return seen;
}

TEST(BatchLoader, SameBatchesWithAndWithoutAThread) {
  const PairCorpus corpus = small_corpus(23);
  const PairBatches batches(corpus, {.batch_size = 4, .window = 2, .seed = 3});
  std::vector<int64_t> want;
  for (int64_t epoch = 0; epoch < 3; ++epoch) {
    const BatchPlan plan = batches.plan(epoch);
    want.insert(want.end(), plan.order.begin(), plan.order.end());
    want.push_back(-1);
  }
  for (const int64_t ahead : {0, 1, 2, 100}) {
    BatchLoader loader(batches, ahead);
    EXPECT_EQ(loader.batches_in_epoch(), 6);
    EXPECT_EQ(walked(loader, 3 * 7), want) << ahead;
    EXPECT_EQ(loader.position(), (LoaderPosition{3, 0}));
  }
}

// From every place, also the end of an epoch, the run goes on as if it had not stopped.
TEST(BatchLoader, SeeksToWhereItStood) {
  const PairCorpus corpus = small_corpus(10);
  const PairBatches batches(corpus, {.batch_size = 3, .seed = 8});
  for (const int64_t ahead : {0, 3}) {
    BatchLoader whole(batches, ahead);
    BatchLoader other(batches, ahead);
    for (int i = 0; i < 11; ++i) {
      const LoaderPosition here = whole.position();
      const auto rest = walked(whole, 4);
      other.seek(here);
      EXPECT_EQ(other.position(), here);
      EXPECT_EQ(walked(other, 4), rest) << i;
      whole.seek(here);
      whole.next();
    }
    EXPECT_EQ(whole.position(), (LoaderPosition{2, 1}));
  }
}

TEST(BatchLoader, RefusesPlacesThatAreNone) {
  const PairCorpus corpus = small_corpus(10);
  const PairBatches batches(corpus, {.batch_size = 3});
  BatchLoader loader(batches);
  const auto second = (walked(loader, 1), loader.position());
  EXPECT_THAT(message_of<ValueError>([&] {
                loader.seek({1, 5});
              }),
              HasSubstr("batch 5 is outside [0, 4], the batches of epoch 1"));
  EXPECT_THROW(loader.seek({0, -1}), ValueError);
  EXPECT_THROW(loader.seek({-1, 0}), ValueError);
  EXPECT_EQ(loader.position(), second);
  EXPECT_THROW(BatchLoader(batches, -1), ValueError);
}

// Fails at one pair, and counts the batches it has made.
struct Faulty : PairBatches {
  using PairBatches::PairBatches;
  PairBatch make(std::span<const int64_t> pairs) const override {
    made += 1;
    if (pairs[0] == 6) throw IoError("pair 6 is broken");
    return PairBatches::make(pairs);
  }
  mutable std::atomic<int> made = 0;
};

TEST(BatchLoader, ThrowsAtItsPlaceWhatTheThreadThrew) {
  const PairCorpus corpus = small_corpus(10);
  for (const int64_t ahead : {0, 1, 8}) {
    const Faulty batches(corpus, {.batch_size = 2, .shuffle = false});
    BatchLoader loader(batches, ahead);
    EXPECT_EQ(walked(loader, 3).size(), 6u);
    for (int i = 0; i < 2; ++i) {
      EXPECT_EQ(message_of<IoError>([&] { loader.next(); }), "pair 6 is broken");
      EXPECT_EQ(loader.position(), (LoaderPosition{0, 3}));
    }
    EXPECT_EQ(batches.made, 4);
    loader.seek({0, 4});
    EXPECT_EQ(walked(loader, 2), (std::vector<int64_t>{8, 9, -1}));
  }
}

TEST(BatchLoader, RunsNoFurtherAheadThanAsked) {
  const PairCorpus corpus = small_corpus(100);
  const Faulty batches(corpus, {.batch_size = 1, .window = 1, .seed = 1});
  {
    BatchLoader loader(batches, 2);
    EXPECT_EQ(batches.made, 0);
    loader.next();
    while (batches.made < 3) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    EXPECT_EQ(batches.made, 3);  // one was taken, two wait
    loader.next();
    while (batches.made < 4) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  // The destructor has joined: no more are made.
  const int made = batches.made;
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_EQ(batches.made, made);
}

TEST(BatchLoader, EndsAnywhere) {
  const PairCorpus corpus = small_corpus(50);
  const PairBatches batches(corpus, {.batch_size = 2});
  for (int calls = 0; calls < 60; ++calls) {
    BatchLoader loader(batches, 1 + calls % 5);
    walked(loader, calls);
  }
  { const BatchLoader unused(batches); }
}

// Operations of both threads at once, and tensors that end in another thread than they began.
TEST(BatchLoader, BesideTraining) {
  const PairCorpus corpus = small_corpus(400);
  const PairBatches batches(corpus, {.batch_size = 8, .seed = 2});
  const auto train = [&](int64_t ahead) {
    BatchLoader loader(batches, ahead);
    Tensor w = ones({500});
    w.requires_grad_();
    for (int epoch = 0; epoch < 3; ++epoch) {
      while (const auto batch = loader.next()) {
        const Tensor loss = w.index_select(0, batch->source.reshape({-1})).square().sum();
        loss.backward();
        const NoGrad no_grad;
        w.sub_(w.grad() * 1e-3);
        w.zero_grad();
      }
    }
    return w;
  };
  EXPECT_TRUE(equal(train(4).detach(), train(0).detach()));
}

}  // namespace
}  // namespace fovea
