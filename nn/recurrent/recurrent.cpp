#include "fovea/nn/recurrent/recurrent.h"

#include <fmt/format.h>

#include "fovea/core/error.h"

namespace fovea {

std::unique_ptr<Recurrent> make_recurrent(std::string_view kind, const RecurrentLayerOptions& o) {
  if (kind == "rnn") return std::make_unique<RNN>(o);
  if (kind == "lstm") return std::make_unique<LSTM>(o);
  if (kind == "gru") return std::make_unique<GRU>(o);
  throw ValueError(fmt::format("make_recurrent: kind is \"{}\"; it is rnn, lstm or gru", kind));
}

}  // namespace fovea
