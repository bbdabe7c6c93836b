// Where a model of glimpses looked: the path of its patches over each image.
//
// Each glimpse is a square of `patch` pixels with a number, in a colour that runs from the first
// glimpse to the last; its coarser scales, each twice the size of the one before, are thin squares
// around it; a line joins the centres. Where a patch reaches out of the image a border shows it.
// Below each image stands what it is and what the model said.
// Source of the picture: Mnih 2014, "Recurrent Models of Visual Attention", figures 2 and 3.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "fovea/viz/image.h"

namespace fovea {

struct GlimpsePoint {
  double x = 0, y = 0;  ///< in pixels of the image from its top left corner; x to the right
};

struct GlimpsePath {
  std::vector<float> pixels;          ///< (height, width), 0 is black and 1 white
  std::vector<GlimpsePoint> centres;  ///< in the order of looking
  int64_t label = -1;                 ///< the true class; -1 when it is not known
  int64_t predicted = -1;             ///< what the model said; -1 when it said nothing
};

struct GlimpseGrid {
  int64_t height = 28, width = 28;       ///< of every image
  double patch = 8;                      ///< side of the finest square, in pixels of the image
  int64_t scales = 1;                    ///< squares a glimpse: patch, 2 patch, 4 patch, ...
  std::vector<GlimpsePath> paths;        ///< drawn in rows, left to right
  int64_t columns = 4;                   ///< images a row
  int64_t zoom = 8;                      ///< picture pixels for one pixel of an image
  std::vector<std::string> class_names;  ///< instead of numbers, when given
};

/// ValueError when there is no path, when a size is not positive, when pixels do not match the
/// size, when a centre is not finite, or when a class has no name.
Image draw_glimpses(const GlimpseGrid& grid);

}  // namespace fovea
