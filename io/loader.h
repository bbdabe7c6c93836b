// Batches that are made beside the training, by a thread that runs a few ahead.
//
//     PairBatches batches(corpus, {.batch_size = 64, .seed = seed});
//     BatchLoader loader(batches);
//     if (resume) {
//       load_checkpoint(file, run);
//       loader.seek({run.progress.epoch, run.progress.position});
//     }
//     while (run.progress.epoch < epochs) {
//       while (const auto batch = loader.next()) {
//         ...;                                      // train on *batch
//         run.progress.step += 1;
//         run.progress.position = loader.position().batch;
//         // here save_checkpoint(file, run) may stand
//       }
//       run.progress.epoch = loader.position().epoch;
//       run.progress.position = 0;
//     }
//
// So a checkpoint's Progress {epoch, step, position} holds the loader's position: its epoch, and as
// `position` the number of batches of that epoch which have been used. Batches depend on corpus,
// options and epoch alone, so a seek gives what an uninterrupted run would have seen.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <mutex>
#include <optional>
#include <thread>

#include "fovea/io/batches.h"

namespace fovea {

/// The batch that next() gives next, or the end of the epoch when `batch` is their number.
struct LoaderPosition {
  int64_t epoch = 0;
  int64_t batch = 0;

  bool operator==(const LoaderPosition&) const = default;
};

/// The batches of one epoch after the other, in the order of PairBatches::plan, the same for every
/// `ahead`. For one caller; between calls it costs the caller's thread nothing.
class BatchLoader {
 public:
  /// `batches` must outlive this. At most `ahead` batches wait in memory; 0: no thread, next()
  /// makes them. ValueError when it is negative.
  explicit BatchLoader(const PairBatches& batches, int64_t ahead = 4);
  /// Waits for no more than the batch that is being made.
  ~BatchLoader();
  BatchLoader(const BatchLoader&) = delete;
  BatchLoader& operator=(const BatchLoader&) = delete;

  /// The next batch of the epoch; nothing, once, at its end, and then goes on with the next epoch.
  /// Throws what making the batch has thrown, at its place in the order, again on every call until
  /// seek().
  std::optional<PairBatch> next();

  LoaderPosition position() const { return position_; }
  /// What next() gives afterwards is the batch of that place. ValueError for a negative epoch and
  /// for a batch outside [0, batches of that epoch]; then nothing has changed.
  void seek(const LoaderPosition& to);
  /// The number of batches in the epoch of position().
  int64_t batches_in_epoch() const { return batches_->count(position_.epoch); }

 private:
  // A batch, or the end of an epoch, or what was thrown instead.
  struct Item {
    PairBatch batch = {};
    bool is_end = false;
    std::exception_ptr error = nullptr;
  };
  // Makes one item after the other, from one place on.
  class Walk {
   public:
    Walk(const PairBatches& batches, const LoaderPosition& from) : batches_(&batches), at_(from) {}
    Item step();

   private:
    const PairBatches* batches_;
    LoaderPosition at_;
    std::optional<BatchPlan> plan_;  // of at_.epoch, once it is needed
  };

  Item take();
  void run();
  void stop();

  const PairBatches* batches_;
  size_t ahead_;
  LoaderPosition position_;
  std::exception_ptr failed_;
  Walk walk_;  // the thread's, while it runs: from the first next() to the end, an error or a seek

  std::mutex mutex_;  // guards the queue and the wish to stop
  std::condition_variable changed_;
  std::deque<Item> queue_;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace fovea
