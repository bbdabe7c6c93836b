#include "fovea/nn/seq2seq/encoder_decoder.h"

#include <fmt/format.h>

#include "fovea/core/error.h"

namespace fovea {

void EncoderDecoder::check_teaching(const Teaching& t) {
  if (t.sampling >= 0 && t.sampling <= 1) return;
  throw ValueError(
      fmt::format("EncoderDecoder: sampling is {}; it is a probability, from 0 to 1", t.sampling));
}

}  // namespace fovea
