#include "fovea/nn/transformer/gpt.h"

#include <cmath>

#include "fovea/nn/init.h"
#include "fovea/nn/transformer/detail/ids.h"
#include "fovea/nn/transformer/detail/stack.h"
#include "fovea/ops/ops.h"

namespace fovea {
namespace {

TransformerStackOptions stack(const GPTOptions& o) {
  detail::check_layers("GPT", o.layers, 1);  // the length of a cache is that of its layers
  return {.layer = {.d_model = o.d_model,
                    .heads = o.heads,
                    .d_ff = o.d_ff,
                    .dropout = o.dropout,
                    .activation = o.activation,
                    .pre_norm = true,
                    .eps = o.eps,
                    .bias = o.bias,
                    .dtype = o.dtype},
          .layers = o.layers};
}

}  // namespace

GPT::GPT(const GPTOptions& o)
    : tokens({.count = o.vocab, .dim = o.d_model, .dtype = o.dtype}),
      positions({.max_len = o.context, .dim = o.d_model, .dtype = o.dtype}),
      dropout(o.dropout),
      blocks(stack(o)),
      o_(o) {
  const NoGrad scope;
  const auto width = static_cast<double>(std::max<int64_t>(1, o.d_model));
  const double std = o.init_std > 0 ? o.init_std : 0.02 * std::sqrt(768 / width);
  init::normal_(tokens.weight, 0, std);
  init::normal_(positions.table.weight, 0, std);
  const double added = std / std::sqrt(2.0 * static_cast<double>(std::max<int64_t>(1, o.layers)));
  for (TransformerEncoderLayer& block : blocks.layers) {
    for (const auto& [name, parameter] : block.named_parameters()) {
      const bool adds = name == "attention.w_o.weight" || name == "mlp.down.weight";
      if (parameter.dim() == 2) init::normal_(parameter, 0, adds ? added : std);
      if (name.ends_with("bias")) init::zeros_(parameter);
    }
  }
}

Tensor GPT::hidden(const Tensor& ids, KvCache* cache) const {
  detail::check_ids("GPT", ids, cache ? cache->length() : 0, o_.context);
  const Tensor h = dropout(positions(tokens(ids), cache ? cache->length() : 0));
  return blocks(h, {.causal = Causal::lower_right}, cache);
}

Tensor GPT::logits(const Tensor& h) const { return linear(h, tokens.weight); }

void GPT::visit(Visitor& v) {
  v("tokens", tokens);
  v("positions", positions);
  v("dropout", dropout);
  v("blocks", blocks);
}

}  // namespace fovea
