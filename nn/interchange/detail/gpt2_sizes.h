// The sizes of the GPT-2 that a file holds. Not public.
#pragma once

#include <map>
#include <string>

#include "fovea/nn/transformer/gpt.h"

namespace fovea::detail {

/// Where the metadata hold the number of heads, as Hugging Face's config.json calls it.
inline constexpr const char* kGpt2Heads = "n_head";

/// The options of the model, from the shapes of its tensors and what load_gpt2 says of heads. The
/// tensors are all there and fit, so that a model of these sizes is not larger than the file:
/// otherwise an IoError, before memory is taken for it.
GPTOptions gpt2_sizes(const NamedTensors& state, const std::map<std::string, std::string>& metadata,
                      const std::string& path, int64_t heads);

}  // namespace fovea::detail
