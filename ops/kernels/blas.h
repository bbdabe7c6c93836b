// OpenBLAS, made ready: one thread, and the code path this processor can run.
#pragma once

namespace fovea::kernels {

// Holds OpenBLAS at one thread in the whole process: Fovea's own threads run one product each, and
// two pools on the same cores would fight. Also mends what OpenBLAS picked for a processor that is
// newer than itself: it falls back to SSE code, five times slower, and then the path for AVX-512
// or AVX2 is chosen here, unless OPENBLAS_CORETYPE is set. Runs once, before main where possible;
// calling it again costs a load. Safe from several threads.
void prepare_blas();

// The code path in use, by OpenBLAS's name: "SkylakeX", "Haswell" ...
const char* blas_core();

}  // namespace fovea::kernels
