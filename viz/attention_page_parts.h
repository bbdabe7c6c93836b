// The style sheet and the script of the attention page.
#pragma once

namespace fovea {

extern const char* const kAttentionStyle;
extern const char* const kAttentionScript;

}  // namespace fovea
