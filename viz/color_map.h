// A sequential scale of colours.
#pragma once

#include "fovea/viz/image.h"

namespace fovea {

/// From near white at 0 to dark blue at 1, clamped; NaN gives the colour of 0. One hue, with a
/// lightness that falls evenly: equal steps look equal, in grey and to the colour-blind as well.
/// Mixed in Oklab: Ottosson 2020, "A perceptual color space for image processing".
Color sequential_color(double t);

}  // namespace fovea
