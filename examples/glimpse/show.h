// The pictures: where the model looked, and how it learned.
#pragma once

#include <string>

#include "examples/glimpse/config.h"
#include "examples/glimpse/data.h"
#include "examples/glimpse/history.h"
#include "examples/glimpse/model.h"

namespace fovea::glimpse {

/// Writes a PNG with the first n images, the numbered path of the glimpses over each, and under it
/// the true and the predicted class.
void draw_paths(const std::string& path, const RecurrentAttention& model, const Images& images,
                int64_t n, const Config& c);

/// Writes an SVG of the loss and the errors over the epochs.
void draw_history(const std::string& path, const History& history, const Config& c);

}  // namespace fovea::glimpse
