#include "fovea/ops/kernels/blas.h"

#include <cblas.h>

#include <cstdlib>
#include <string_view>

// OpenBLAS's own functions to choose its code path, exported by builds that carry several. Weak:
// null in a build that carries one.
extern "C" {
__attribute__((weak)) void gotoblas_dynamic_init(void);
__attribute__((weak)) void gotoblas_dynamic_quit(void);
}

namespace fovea::kernels {

namespace {

void choose_core() {
#if defined(__x86_64__) || defined(__i386__)
  if (gotoblas_dynamic_init == nullptr || gotoblas_dynamic_quit == nullptr) return;
  constexpr const char* kVariable = "OPENBLAS_CORETYPE";
  if (std::getenv(kVariable) != nullptr) return;
  const std::string_view core = openblas_get_corename();
  for (std::string_view modern :
       {"Haswell", "Zen", "Excavator", "SkylakeX", "Cooperlake", "SapphireRapids"}) {
    if (core == modern) return;
  }
  const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  const bool avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
  if (!avx2) return;
  // The choice is read from the environment, here for the time of the call only.
  setenv(kVariable, avx512 ? "SkylakeX" : "Haswell", 1);
  gotoblas_dynamic_quit();
  gotoblas_dynamic_init();
  unsetenv(kVariable);
#endif
}

// Before main there is one thread, so that nothing reads the environment or multiplies meanwhile.
[[maybe_unused]] const bool prepared = (prepare_blas(), true);

}  // namespace

void prepare_blas() {
  static const bool done = [] {
    choose_core();
    openblas_set_num_threads(1);
    return true;
  }();
  (void)done;
}

const char* blas_core() {
  prepare_blas();
  return openblas_get_corename();
}

}  // namespace fovea::kernels
