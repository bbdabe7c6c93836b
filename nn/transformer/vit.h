// Vision Transformer: an image as a sentence of patches. Dosovitskiy 2020.
//
//     x = [class token; patches W + b] + positions;  y = norm(layers(x));  logits = head(y_0)
//
// A patch is a token: p x p pixels of all channels in one row, times a matrix, which is a
// convolution with stride p. The class token asks the others what the image shows; the gradient
// reaches a pixel through the patches that attention gave weight.
#pragma once

#include "fovea/nn/position/learned.h"
#include "fovea/nn/transformer/encoder.h"

namespace fovea {

struct PatchEmbeddingOptions {
  int64_t channels = 1;
  int64_t patch = 0;  ///< p, in pixels
  int64_t d_model = 0;
  DType dtype = f32;
};
/// images (B, C, H, W) -> (B, (H / p) (W / p), d_model), row by row. Parameter "projection", a
/// Linear of C p p inputs, ordered as conv2d's weight. ShapeError unless H and W are multiples of
/// p.
class PatchEmbedding : public Module {
 public:
  Linear projection;

  explicit PatchEmbedding(const PatchEmbeddingOptions& o);

  Tensor forward(const Tensor& images) const;
  Tensor operator()(const Tensor& images) const { return forward(images); }
  void visit(Visitor& v) override;

 private:
  PatchEmbeddingOptions o_;
};

struct ViTOptions {
  int64_t image = 0;  ///< height and width, in pixels
  int64_t channels = 1;
  int64_t patch = 0;
  int64_t classes = 0;
  int64_t d_model = 0;
  int64_t heads = 1;
  int64_t layers = 1;
  int64_t d_ff = 0;  ///< 0: 4 d_model
  double dropout = 0;
  double eps = 1e-6;  ///< of the norms; Hugging Face's "google/vit-*" have 1e-12
  DType dtype = f32;
};
/// images (B, C, image, image) -> logits (B, classes). Parameters "patches", "class_token" (D),
/// "positions", "encoder" (pre-norm, gelu) and "head".
class ViT : public Module {
 public:
  PatchEmbedding patches;
  Tensor class_token;
  LearnedPositions positions;
  Dropout dropout;
  TransformerEncoder encoder;
  Linear head;

  explicit ViT(const ViTOptions& o);

  Tensor forward(const Tensor& images) const;
  Tensor operator()(const Tensor& images) const { return forward(images); }
  void visit(Visitor& v) override;
};

}  // namespace fovea
