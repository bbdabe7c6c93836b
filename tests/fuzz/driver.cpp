// A libFuzzer program: FOVEA_FUZZ_TARGET is the function that it feeds.
#include "fovea/core/error.h"
#include "tests/fuzz/targets.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  try {
    fovea::fuzz::FOVEA_FUZZ_TARGET({data, size});
  } catch (const fovea::Error&) {
    // the answer to a file that is none
  }
  return 0;
}
