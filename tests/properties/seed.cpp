// A fixed seed: a property that fails once fails every time. RC_PARAMS of the environment wins.
#include <cstdlib>

namespace {

[[maybe_unused]] const int seeded = setenv("RC_PARAMS", "seed=20240607 max_success=1000", 0);

}  // namespace
