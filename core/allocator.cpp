#include "fovea/core/allocator.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdlib>
#include <mutex>
#include <vector>

#include "fovea/core/error.h"

namespace fovea {
namespace {

constexpr size_t kAlign = 64;
constexpr size_t kSmallLimit = size_t{1} << 20;
constexpr size_t kHugePage = size_t{2} << 20;
constexpr int kClasses = 220;              // four steps a power of two, from 64 B up
constexpr int64_t kFlushBytes = 64 << 10;  // how far a thread's count may run ahead of the total
constexpr size_t kPoolBytes = 4u << 20;    // a pool longer than this gives half of it away

// Size classes: 64, 128, 192, 256, then four steps for each doubling: waste stays below a fifth.
int class_of(size_t bytes) {
  const size_t units = std::max<size_t>(1, (bytes + kAlign - 1) / kAlign);
  if (units <= 4) return static_cast<int>(units) - 1;
  const int top = std::bit_width(units - 1) - 1;    // 2^top < units <= 2^(top+1)
  const size_t step = size_t{1} << (top - 2);       // quarter steps
  const size_t above = units - (size_t{1} << top);  // in (0, 2^top]
  return 4 + (top - 2) * 4 + static_cast<int>((above + step - 1) / step) - 1;
}

size_t class_bytes(int c) {
  if (c < 4) return (static_cast<size_t>(c) + 1) * kAlign;
  const int top = (c - 4) / 4 + 2;
  const size_t quarter = static_cast<size_t>((c - 4) % 4) + 1;
  return ((size_t{1} << top) + quarter * (size_t{1} << (top - 2))) * kAlign;
}

struct FreeBlock {
  FreeBlock* next;
};

// Counters of one thread. Only the owner writes; readers add them up, so no locked instruction is
// paid for an allocation. Totals are exact whenever the other threads are at rest.
struct Counts {
  std::atomic<int64_t> bytes{0};
  std::atomic<int64_t> nodes{0};
  std::atomic<int64_t> tensors{0};

  static void add(std::atomic<int64_t>& c, int64_t d) {
    c.store(c.load(std::memory_order_relaxed) + d, std::memory_order_relaxed);
  }
};

struct Pool;

// Lives until the process ends: thread-local pools are destroyed after most statics.
struct Shared {
  std::mutex mutex;
  FreeBlock* lists[kClasses] = {};
  std::vector<Pool*> pools;
  std::atomic<int64_t> bytes{0}, peak{0}, nodes{0}, tensors{0};
  int64_t cached = 0;  // guarded by mutex; large blocks only
};

Shared& shared() {
  static Shared* s = new Shared;
  return *s;
}

void raise_peak(int64_t now) {
  auto& peak = shared().peak;
  int64_t p = peak.load(std::memory_order_relaxed);
  while (now > p && !peak.compare_exchange_weak(p, now, std::memory_order_relaxed)) {
  }
}

struct Pool {
  FreeBlock* lists[kClasses] = {};
  size_t held[kClasses] = {};
  Counts counts;

  Pool() {
    const std::lock_guard lock(shared().mutex);
    shared().pools.push_back(this);
  }
  ~Pool() {
    Shared& s = shared();
    const std::lock_guard lock(s.mutex);
    for (int c = 0; c < kClasses; ++c) give_away(c, 0);
    s.bytes += counts.bytes.load();
    s.nodes += counts.nodes.load();
    s.tensors += counts.tensors.load();
    s.pools.erase(std::find(s.pools.begin(), s.pools.end(), this));
  }

  void count_bytes(int64_t d) {
    Counts::add(counts.bytes, d);
    const int64_t ahead = counts.bytes.load(std::memory_order_relaxed);
    if (ahead < kFlushBytes && ahead > -kFlushBytes) return;
    counts.bytes.store(0, std::memory_order_relaxed);
    raise_peak(shared().bytes.fetch_add(ahead, std::memory_order_relaxed) + ahead);
  }

  // Moves blocks of class c to the shared list until at most `keep` bytes are left. Lock held.
  void give_away(int c, size_t keep) {
    while (lists[c] && held[c] > keep) {
      FreeBlock* b = lists[c];
      lists[c] = b->next;
      held[c] -= class_bytes(c);
      b->next = shared().lists[c];
      shared().lists[c] = b;
    }
  }
};

// Null before the first use, and again when the thread's pool is gone (statics being destroyed):
// blocks then go straight to the shared lists.
constinit thread_local Pool* my_pool = nullptr;
constinit thread_local bool pool_gone = false;
struct PoolOwner {
  Pool pool;
  PoolOwner() { my_pool = &pool; }
  ~PoolOwner() {
    my_pool = nullptr;
    pool_gone = true;
  }
};
Pool* make_pool() {
  if (pool_gone) return nullptr;
  thread_local PoolOwner owner;
  return &owner.pool;
}
inline Pool* pool() { return my_pool ? my_pool : make_pool(); }

[[noreturn]] void out_of_memory(size_t bytes) {
  throw Error(
      fmt::format("allocate: the system has no {} bytes left; {}", bytes, memory_stats().str()));
}

void* map_large(size_t bytes) {
  void* p = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (p == MAP_FAILED) return nullptr;
  madvise(p, bytes, MADV_HUGEPAGE);  // best effort: without it the pages are merely small
  return p;
}

size_t large_bytes(int c) { return (class_bytes(c) + kHugePage - 1) / kHugePage * kHugePage; }

// Takes from the shared list of class c, or null.
void* take_shared(int c) {
  Shared& s = shared();
  const std::lock_guard lock(s.mutex);
  FreeBlock* b = s.lists[c];
  if (!b) return nullptr;
  s.lists[c] = b->next;
  if (class_bytes(c) > kSmallLimit) s.cached -= static_cast<int64_t>(large_bytes(c));
  return b;
}

// New small blocks are cut from slabs, several at once, so that the system is asked rarely.
void* carve(Pool* p, int c) {
  const size_t size = class_bytes(c);
  const size_t count = std::clamp<size_t>((size_t{64} << 10) / size, 1, 256);
  char* slab = static_cast<char*>(std::aligned_alloc(kAlign, size * count));
  if (!slab) return nullptr;
  for (size_t i = 1; i < count; ++i) {
    auto* b = reinterpret_cast<FreeBlock*>(slab + i * size);
    b->next = p->lists[c];
    p->lists[c] = b;
  }
  p->held[c] += size * (count - 1);
  return slab;
}

}  // namespace

namespace detail {

void* allocate(size_t bytes) {
  if (bytes > size_t{1} << 46) out_of_memory(bytes);
  const int c = class_of(bytes);
  const size_t size = class_bytes(c);
  Pool* p = pool();
  void* block = nullptr;
  if (size <= kSmallLimit) {
    if (p && p->lists[c]) {
      block = p->lists[c];
      p->lists[c] = p->lists[c]->next;
      p->held[c] -= size;
    } else {
      block = take_shared(c);
      if (!block) block = p ? carve(p, c) : std::aligned_alloc(kAlign, size);
    }
  } else {
    block = take_shared(c);
    if (!block) block = map_large(large_bytes(c));
    if (!block) {  // cached blocks of other sizes may stand in the way
      empty_cache();
      block = map_large(large_bytes(c));
    }
  }
  if (!block) out_of_memory(bytes);
  if (p) {
    p->count_bytes(static_cast<int64_t>(size));
  } else {
    shared().bytes += static_cast<int64_t>(size);
  }
  return block;
}

void deallocate(void* block, size_t bytes) noexcept {
  if (!block) return;
  const int c = class_of(bytes);
  const size_t size = class_bytes(c);
  auto* b = static_cast<FreeBlock*>(block);
  Pool* p = pool();
  Shared& s = shared();
  if (p) {
    p->count_bytes(-static_cast<int64_t>(size));
  } else {
    s.bytes -= static_cast<int64_t>(size);
  }
  if (p && size <= kSmallLimit) {
    b->next = p->lists[c];
    p->lists[c] = b;
    p->held[c] += size;
    if (p->held[c] > kPoolBytes) {
      const std::lock_guard lock(s.mutex);
      p->give_away(c, kPoolBytes / 2);
    }
    return;
  }
  const std::lock_guard lock(s.mutex);
  b->next = s.lists[c];
  s.lists[c] = b;
  if (size > kSmallLimit) s.cached += static_cast<int64_t>(large_bytes(c));
}

void count_nodes(int64_t d) noexcept {
  if (Pool* p = pool()) {
    Counts::add(p->counts.nodes, d);
  } else {
    shared().nodes += d;
  }
}

void count_tensors(int64_t d) noexcept {
  if (Pool* p = pool()) {
    Counts::add(p->counts.tensors, d);
  } else {
    shared().tensors += d;
  }
}

}  // namespace detail

MemoryStats memory_stats() {
  Shared& s = shared();
  const std::lock_guard lock(s.mutex);
  MemoryStats m;
  m.live_bytes = s.bytes.load();
  m.live_nodes = s.nodes.load();
  m.live_tensors = s.tensors.load();
  for (const Pool* p : s.pools) {
    m.live_bytes += p->counts.bytes.load(std::memory_order_relaxed);
    m.live_nodes += p->counts.nodes.load(std::memory_order_relaxed);
    m.live_tensors += p->counts.tensors.load(std::memory_order_relaxed);
  }
  raise_peak(m.live_bytes);
  m.peak_bytes = s.peak.load();
  m.cached_bytes = s.cached;
  return m;
}

void reset_peak_memory() {
  shared().peak.store(0);
  memory_stats();  // raises the peak to what is live now
}

void empty_cache() {
  Shared& s = shared();
  const std::lock_guard lock(s.mutex);
  for (int c = 0; c < kClasses; ++c) {
    if (class_bytes(c) <= kSmallLimit) continue;
    while (FreeBlock* b = s.lists[c]) {
      s.lists[c] = b->next;
      s.cached -= static_cast<int64_t>(large_bytes(c));
      munmap(b, large_bytes(c));
    }
  }
}

std::string MemoryStats::str() const {
  constexpr double kMiB = 1 << 20;
  return fmt::format("live {:.1f} MiB, peak {:.1f} MiB, cached {:.1f} MiB, {} nodes, {} tensors",
                     live_bytes / kMiB, peak_bytes / kMiB, cached_bytes / kMiB, live_nodes,
                     live_tensors);
}

}  // namespace fovea
