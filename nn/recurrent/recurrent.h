// Recurrent layers: a state that is read, changed and handed on at every step.
#pragma once

#include <memory>
#include <string_view>

#include "fovea/nn/recurrent/gru.h"
#include "fovea/nn/recurrent/lstm.h"
#include "fovea/nn/recurrent/rnn.h"

namespace fovea {

/// "rnn", "lstm" or "gru". ValueError for another name.
std::unique_ptr<Recurrent> make_recurrent(std::string_view kind, const RecurrentLayerOptions& o);

}  // namespace fovea
