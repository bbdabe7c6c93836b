#include "fovea/core/parallel.h"

#include <fmt/format.h>

#include <atomic>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include "fovea/core/error.h"

#ifndef FOVEA_TSAN
#include <tbb/global_control.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>
#endif

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace fovea {

#if defined(__x86_64__)
namespace {
constexpr unsigned kFlush = 0x8040;  // flush-to-zero | denormals-are-zero
}
FlushDenormals::FlushDenormals() : before_(_mm_getcsr()) {
  if ((before_ & kFlush) != kFlush) _mm_setcsr(before_ | kFlush);
}
FlushDenormals::~FlushDenormals() {
  if ((before_ & kFlush) != kFlush) _mm_setcsr(before_);
}
#elif defined(__aarch64__)
namespace {
constexpr uint64_t kFlush = 1u << 24;  // FPCR.FZ
}
FlushDenormals::FlushDenormals() : before_(0) {
  uint64_t r;
  __asm__ volatile("mrs %0, fpcr" : "=r"(r));
  before_ = static_cast<unsigned>(r);
  if (!(r & kFlush)) __asm__ volatile("msr fpcr, %0" ::"r"(r | kFlush));
}
FlushDenormals::~FlushDenormals() {
  const uint64_t r = before_;
  if (!(r & kFlush)) __asm__ volatile("msr fpcr, %0" ::"r"(r));
}
#else
FlushDenormals::FlushDenormals() : before_(0) {}
FlushDenormals::~FlushDenormals() = default;
#endif

namespace {

// Keeps the exception of the lowest chunk, so that what is thrown does not depend on timing.
class FirstError {
 public:
  void catch_at(int64_t chunk) noexcept {
    const std::lock_guard lock(mutex_);
    if (error_ && chunk > at_) return;
    error_ = std::current_exception();
    at_ = chunk;
  }
  void rethrow() const {
    if (error_) std::rethrow_exception(error_);
  }

 private:
  std::mutex mutex_;
  std::exception_ptr error_;
  int64_t at_ = 0;
};

void run_one(detail::ChunkBody body, int64_t i, FirstError& error) noexcept {
  try {
    const FlushDenormals scope;
    body(i);
  } catch (...) {
    error.catch_at(i);
  }
}

#ifdef FOVEA_TSAN

// Thread sanitiser cannot see into TBB's own synchronisation: plain threads, one loop at a time.
std::atomic<int> thread_count{static_cast<int>(std::max(1u, std::thread::hardware_concurrency()))};
thread_local bool inside = false;

void run(int64_t chunks, detail::ChunkBody body, FirstError& error) {
  if (inside || thread_count == 1) {
    for (int64_t i = 0; i < chunks; ++i) run_one(body, i, error);
    return;
  }
  std::atomic<int64_t> next{0};
  auto work = [&] {
    inside = true;
    for (int64_t i; (i = next++) < chunks;) run_one(body, i, error);
    inside = false;
  };
  std::vector<std::thread> crew;
  for (int t = 1; t < thread_count && t < chunks; ++t) crew.emplace_back(work);
  work();
  for (auto& t : crew) t.join();
}

#else

struct Crew {
  explicit Crew(int n)
      : count(n),
        limit(tbb::global_control::max_allowed_parallelism, static_cast<size_t>(n)),
        arena(n) {}
  int count;
  tbb::global_control limit;  // lets TBB start more workers than processors
  tbb::task_arena arena;
};

std::mutex crew_mutex;
std::shared_ptr<Crew>& crew_slot() {
  static auto* slot = new std::shared_ptr<Crew>;  // outlives every static that may still loop
  return *slot;
}
std::shared_ptr<Crew> crew() {
  const std::lock_guard lock(crew_mutex);
  auto& slot = crew_slot();
  if (!slot) {
    slot =
        std::make_shared<Crew>(static_cast<int>(std::max(1u, std::thread::hardware_concurrency())));
  }
  return slot;
}

void run(int64_t chunks, detail::ChunkBody body, FirstError& error) {
  const auto loop = [&] {
    tbb::parallel_for(
        int64_t{0}, chunks, [&](int64_t i) { run_one(body, i, error); }, tbb::simple_partitioner());
  };
  // Inside a task: stay in its arena, and do not pick up unrelated outer work while waiting.
  static thread_local int depth = 0;
  struct Depth {
    Depth() { ++depth; }
    ~Depth() { --depth; }
  };
  const auto isolated = [&] { tbb::this_task_arena::isolate(loop); };
  const std::shared_ptr<Crew> c = crew();
  if (c->count == 1) {
    for (int64_t i = 0; i < chunks; ++i) run_one(body, i, error);
    return;
  }
  if (depth > 0 || tbb::this_task_arena::current_thread_index() > 0) {
    isolated();
    return;
  }
  const Depth scope;
  c->arena.execute(isolated);
}

#endif

}  // namespace

void detail::run_chunks(int64_t chunks, ChunkBody body) {
  FirstError error;
  run(chunks, body, error);
  error.rethrow();
}

void set_threads(int n) {
  if (n < 1 || n > 1024) {
    throw ValueError(fmt::format("set_threads: {} threads; give 1 to 1024", n));
  }
#ifdef FOVEA_TSAN
  thread_count = n;
#else
  const std::lock_guard lock(crew_mutex);
  crew_slot() = std::make_shared<Crew>(n);
#endif
}

int threads() {
#ifdef FOVEA_TSAN
  return thread_count;
#else
  return crew()->count;
#endif
}

}  // namespace fovea
