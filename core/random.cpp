#include "fovea/core/random.h"

namespace fovea {

Generator& default_generator() {
  static thread_local Generator g;
  return g;
}

void manual_seed(uint64_t seed) { default_generator() = Generator(seed); }

}  // namespace fovea
