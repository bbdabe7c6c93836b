// Parallel loops: one wrapper over oneTBB.
//
// The borders of the chunks are a function of n and grain, and the body must combine nothing across
// chunks except by chunk number: so every result has the same bits on 1, 2 or 8 threads. A grain
// that follows threads() is for bodies that compute each element alone and combine nothing at all.
// Denormals are flushed inside every loop, serial or not (they cost 60 to 170 times), and the
// caller's setting is restored. Tensor operations must not run inside a body: gradient mode is per
// thread.
#pragma once

#include <cstdint>
#include <memory>
#include <type_traits>

namespace fovea {

/// The number of threads every loop uses from now on; at first the number of processors. May exceed
/// it. OpenBLAS stays at one thread in the whole process: these loops split the matrix products.
void set_threads(int n);
int threads();

/// Treats denormal floats as zero on this thread while in scope.
class FlushDenormals {
 public:
  FlushDenormals();
  ~FlushDenormals();
  FlushDenormals(const FlushDenormals&) = delete;
  FlushDenormals& operator=(const FlushDenormals&) = delete;

 private:
  unsigned before_;
};

namespace detail {

/// A non-owning reference to a callable (int64_t chunk) -> void.
class ChunkBody {
 public:
  template <class F>
  ChunkBody(F& f)  // NOLINT(google-explicit-constructor)
      : object_(const_cast<void*>(static_cast<const void*>(std::addressof(f)))),
        call_([](void* o, int64_t i) { (*static_cast<F*>(o))(i); }) {}
  void operator()(int64_t i) const { call_(object_, i); }

 private:
  void* object_;
  void (*call_)(void*, int64_t);
};

void run_chunks(int64_t chunks, ChunkBody body);

}  // namespace detail

/// body(i) for i in [0, chunks), in any order and on any thread. When bodies throw, all of them
/// still run and the exception of the lowest i is rethrown.
template <class F>
void parallel_chunks(int64_t chunks, F&& body) {
  if (chunks <= 0) return;
  if (chunks == 1) {
    const FlushDenormals scope;
    body(int64_t{0});
    return;
  }
  detail::run_chunks(chunks, detail::ChunkBody(body));
}

/// body(begin, end) over [0, n) in chunks of `grain` (the last may be shorter).
template <class F>
void parallel_for(int64_t n, int64_t grain, F&& body) {
  if (n <= 0) return;
  if (grain < 1) grain = 1;
  parallel_chunks((n + grain - 1) / grain, [&](int64_t i) {
    const int64_t begin = i * grain;
    body(begin, begin + grain < n ? begin + grain : n);
  });
}

/// A grain so that a chunk of items, each costing about `cost` elementary steps, is worth a task.
constexpr int64_t grain_for(int64_t cost) {
  constexpr int64_t kSteps = 32768;
  return cost >= kSteps ? 1 : kSteps / (cost > 0 ? cost : 1);
}

}  // namespace fovea
