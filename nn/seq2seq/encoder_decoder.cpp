#include "fovea/nn/seq2seq/encoder_decoder.h"

#include <fmt/format.h>

#include "fovea/core/error.h"

namespace fovea {

void EncoderDecoder::check_sampling(const ScheduledSampling& s) {
  if (s.probability >= 0 && s.probability <= 1) return;
  throw ValueError(fmt::format(
      "EncoderDecoder: ScheduledSampling::probability is {}; it lies in [0, 1]", s.probability));
}

}  // namespace fovea
