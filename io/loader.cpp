#include "fovea/io/loader.h"

#include <fmt/format.h>

#include <utility>

#include "fovea/core/error.h"

namespace fovea {

BatchLoader::Item BatchLoader::Walk::step() {
  Item item;
  try {
    if (!plan_) plan_ = batches_->plan(at_.epoch);
    if (at_.batch < plan_->size()) {
      item.batch = batches_->make((*plan_)[at_.batch]);
      at_.batch += 1;
    } else {
      at_ = {at_.epoch + 1, 0};
      plan_.reset();
      item.is_end = true;
    }
  } catch (...) {
    item.error = std::current_exception();
  }
  return item;
}

BatchLoader::BatchLoader(const PairBatches& batches, int64_t ahead)
    : batches_(&batches), ahead_(static_cast<size_t>(ahead)), walk_(batches, {}) {
  if (ahead < 0) {
    throw ValueError(fmt::format("BatchLoader: ahead is {}; need at least 0", ahead));
  }
}

BatchLoader::~BatchLoader() { stop(); }

std::optional<PairBatch> BatchLoader::next() {
  if (failed_) std::rethrow_exception(failed_);
  Item item = take();
  if (item.error) {
    failed_ = item.error;
    stop();
    std::rethrow_exception(failed_);
  }
  if (item.is_end) {
    position_ = {position_.epoch + 1, 0};
    return std::nullopt;
  }
  position_.batch += 1;
  return std::move(item.batch);
}

// The next item of the queue, or made here when there is none.
BatchLoader::Item BatchLoader::take() {
  if (ahead_ == 0) return walk_.step();
  if (!thread_.joinable()) thread_ = std::thread([this] { run(); });
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return !queue_.empty(); });
  Item item = std::move(queue_.front());
  queue_.pop_front();
  changed_.notify_one();
  return item;
}

// The thread: fills the queue until it is asked to stop, or a batch cannot be made.
void BatchLoader::run() {
  while (true) {
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [this] { return stopping_ || queue_.size() < ahead_; });
      if (stopping_) return;
    }
    Item item = walk_.step();
    const bool failed = item.error != nullptr;
    {
      const std::lock_guard lock(mutex_);
      queue_.push_back(std::move(item));
    }
    changed_.notify_one();
    if (failed) return;
  }
}

void BatchLoader::stop() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_one();
  thread_.join();
  stopping_ = false;
  queue_.clear();
}

void BatchLoader::seek(const LoaderPosition& to) {
  const int64_t count = batches_->count(to.epoch);
  if (to.batch < 0 || to.batch > count) {
    throw ValueError(
        fmt::format("BatchLoader: batch {} is outside [0, {}], the batches of epoch {}", to.batch,
                    count, to.epoch));
  }
  stop();
  failed_ = nullptr;
  position_ = to;
  walk_ = Walk(*batches_, to);
}

}  // namespace fovea
