// Random numbers: counter-based, so a value is a function of (seed, stream, element index) and
// never of the thread that computes it.
//
// Source: Salmon et al. 2011, "Parallel random numbers: as easy as 1, 2, 3" (Philox 4x32-10).
#pragma once

#include <cstdint>

namespace fovea {

/// What identifies the numbers of one operation: filling a tensor again with the same key gives the
/// same bits, which is how dropout replays its mask in the backward pass.
struct RandomKey {
  uint64_t seed = 0;
  uint64_t stream = 0;
};

/// Hands out a fresh stream to every random operation. Its whole state is two integers.
class Generator {
 public:
  explicit Generator(uint64_t seed = 0) : state_{seed, 0} {}
  /// The key of the next operation.
  RandomKey next() { return {state_.seed, state_.stream++}; }
  RandomKey state() const { return state_; }
  void set_state(const RandomKey& s) { state_ = s; }

 private:
  RandomKey state_;
};

/// The generator of this thread, used where none is passed. Seed 0 until manual_seed().
Generator& default_generator();
/// Restarts this thread's default generator.
void manual_seed(uint64_t seed);

}  // namespace fovea
