#include "fovea/nn/transformer/vit.h"

#include <fmt/format.h>

#include "fovea/core/error.h"
#include "fovea/nn/init.h"
#include "fovea/ops/ops.h"

namespace fovea {
namespace {

const PatchEmbeddingOptions& checked(const PatchEmbeddingOptions& o) {
  if (o.channels >= 1 && o.patch >= 1 && o.d_model >= 1) return o;
  throw ValueError(
      fmt::format("PatchEmbedding: channels is {}, patch is {}, d_model is {}; all are at least 1",
                  o.channels, o.patch, o.d_model));
}

// The class token and a token a patch.
int64_t tokens_of(const ViTOptions& o) {
  if (o.patch >= 1 && o.image >= 1 && o.image % o.patch == 0) {
    return 1 + (o.image / o.patch) * (o.image / o.patch);
  }
  throw ValueError(fmt::format("ViT: image is {}, patch is {}; image must be a multiple of patch",
                               o.image, o.patch));
}

TransformerStackOptions stack(const ViTOptions& o) {
  return {.layer = {.d_model = o.d_model,
                    .heads = o.heads,
                    .d_ff = o.d_ff,
                    .dropout = o.dropout,
                    .activation = Activation::gelu,
                    .pre_norm = true,
                    .eps = o.eps,
                    .dtype = o.dtype},
          .layers = o.layers};
}

}  // namespace

PatchEmbedding::PatchEmbedding(const PatchEmbeddingOptions& o)
    : projection(
          {.in = checked(o).channels * o.patch * o.patch, .out = o.d_model, .dtype = o.dtype}),
      o_(o) {}

Tensor PatchEmbedding::forward(const Tensor& images) const {
  const int64_t p = o_.patch;
  if (!images.defined() || images.dim() != 4 || images.size(1) != o_.channels ||
      images.size(2) % p != 0 || images.size(3) % p != 0) {
    throw ShapeError(
        fmt::format("PatchEmbedding: images is {}; need (B, {}, H, W), H and W multiples of {}",
                    images.defined() ? images.shape().str() : "undefined", o_.channels, p));
  }
  const int64_t b = images.size(0), h = images.size(2) / p, w = images.size(3) / p;
  const Tensor blocks = permute(reshape(images, {b, o_.channels, h, p, w, p}), {0, 2, 4, 1, 3, 5});
  return projection(reshape(blocks, {b, h * w, o_.channels * p * p}));
}

void PatchEmbedding::visit(Visitor& v) { v("projection", projection); }

ViT::ViT(const ViTOptions& o)
    : patches({.channels = o.channels, .patch = o.patch, .d_model = o.d_model, .dtype = o.dtype}),
      class_token(zeros({o.d_model}, o.dtype)),
      positions({.max_len = tokens_of(o), .dim = o.d_model, .dtype = o.dtype}),
      dropout(o.dropout),
      encoder(stack(o)),
      head({.in = o.d_model, .out = o.classes, .dtype = o.dtype}) {
  class_token.requires_grad_();
  const NoGrad scope;
  init::normal_(positions.table.weight, 0, 0.02);
}

Tensor ViT::forward(const Tensor& images) const {
  const Tensor tokens = patches(images);
  if (tokens.size(1) + 1 != positions.table.weight.size(0)) {
    throw ShapeError(fmt::format("ViT: images is {}, {} patches; the model was made for {}",
                                 images.shape().str(), tokens.size(1),
                                 positions.table.weight.size(0) - 1));
  }
  const Tensor first = expand(class_token, {tokens.size(0), 1, tokens.size(2)});
  const Tensor h = encoder(dropout(positions(cat({first, tokens}, 1))));
  return head(select(h, 1, 0));
}

void ViT::visit(Visitor& v) {
  v("patches", patches);
  v("class_token", class_token);
  v("positions", positions);
  v("dropout", dropout);
  v("encoder", encoder);
  v("head", head);
}

}  // namespace fovea
