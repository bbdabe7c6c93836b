// Memory for tensors, graph nodes and kernel scratch: 64-byte aligned, cached by size class,
// counted.
//
// Blocks up to 1 MiB come from pools that belong to the thread; a block freed by another thread
// joins that thread's pool, and a pool that grows long hands half of it to the shared cache. Larger
// blocks come from the shared cache, mapped once with huge pages and kept: a first touch of 64 MiB
// costs more than most operations on it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

namespace fovea {

/// What is alive now. Bytes count what was asked for, rounded up to its size class; kernel scratch
/// is included, OpenBLAS's own buffers are not.
struct MemoryStats {
  int64_t live_bytes = 0;  ///< held by tensors, nodes and scratch
  int64_t peak_bytes = 0;  ///< highest live_bytes since reset_peak_memory(), within 64 KiB a thread
  int64_t cached_bytes = 0;  ///< free blocks kept for reuse, of more than 1 MiB each
  int64_t live_nodes = 0;    ///< graph nodes, leaves included
  int64_t live_tensors = 0;  ///< tensors that share nothing but storage count each
  std::string str() const;   ///< one line for people
};

MemoryStats memory_stats();
void reset_peak_memory();
/// Gives cached large blocks back to the system.
void empty_cache();

namespace detail {

/// 64-byte aligned memory, uninitialised. Throws fovea::Error when the system has none.
void* allocate(size_t bytes);
/// `bytes` must be what allocate() was asked for; any thread may free.
void deallocate(void* p, size_t bytes) noexcept;

void count_nodes(int64_t delta) noexcept;
void count_tensors(int64_t delta) noexcept;

}  // namespace detail

/// Kernel scratch: uninitialised elements of T, freed at the end of the scope.
template <class T>
class Scratch {
 public:
  explicit Scratch(int64_t n)
      : n_(static_cast<size_t>(n) * sizeof(T)), p_(static_cast<T*>(detail::allocate(n_))) {}
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ~Scratch() { detail::deallocate(p_, n_); }
  T* data() { return p_; }
  const T* data() const { return p_; }
  T& operator[](int64_t i) { return p_[i]; }

 private:
  size_t n_;
  T* p_;
};

}  // namespace fovea
