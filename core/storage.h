// The bytes behind one or more tensors.
#pragma once

#include <atomic>
#include <cstdint>

namespace fovea::detail {

/// Reference-counted memory. Small blocks follow the header in the same allocation.
struct Storage {
  std::atomic<int32_t> refs{1};      ///< tensors that show this memory, saved outputs included
  std::atomic<int32_t> saved{0};     ///< of these, outputs a graph node keeps for its gradient
  std::atomic<uint32_t> version{0};  ///< raised by every in-place change
  size_t bytes = 0;
  void* data = nullptr;

  static Storage* make(size_t bytes);
  void retain() { refs.fetch_add(1, std::memory_order_relaxed); }
  void release() {
    // The only owner needs no locked instruction: nobody else can take a reference now.
    if (refs.load(std::memory_order_acquire) == 1 ||
        refs.fetch_sub(1, std::memory_order_acq_rel) == 1) {
      destroy();
    }
  }

 private:
  void destroy();
};

}  // namespace fovea::detail
