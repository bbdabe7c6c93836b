#include "fovea/nn/seq2seq/seq2seq.h"

#include <fmt/format.h>

#include "fovea/core/error.h"
#include "fovea/ops/ops.h"

namespace fovea {
namespace {

class RecurrentDecoding : public Decoding {
 public:
  RecurrentDecoding(const Seq2Seq& model, const Tensor& source) : decoder_(model.decoder) {
    const NoGrad scope;
    const Encoded read = (*model.encoder)(source);
    source_ = decoder_.prepare(read);
    state_ = decoder_.start(read);
    if (decoder_.attention)
      seen_ = zeros({read.memory.size(0), read.memory.size(1)}, read.memory.dtype());
  }

  Tensor next(const Tensor& ids) override {
    const NoGrad scope;
    const AttentionDecoder::Steps steps = decoder_(ids, source_, state_);
    if (seen_.defined()) seen_ = seen_ + sum(steps.weights, 1);
    return fovea::select(decoder_.logits(narrow(steps.features, 1, -1, 1)), 1, 0);
  }

  void select(const Tensor& rows) override {
    const NoGrad scope;
    source_.select(rows);
    state_.select(rows);
    if (seen_.defined()) seen_ = index_select(seen_, 0, rows);
  }

  Tensor coverage() const override {
    const Tensor& keep = source_.attention.keep_mask;
    if (!seen_.defined() || !keep.defined()) return seen_;
    return where(keep, seen_, ones({}, seen_.dtype()));
  }

 private:
  const AttentionDecoder& decoder_;
  AttentionDecoder::Source source_;
  AttentionDecoder::State state_;
  Tensor seen_;  // (N, S), the weights that each token of the source got so far
};

}  // namespace

Seq2Seq::Seq2Seq(const Seq2SeqOptions& o)
    : encoder(make_encoder({.kind = o.encoder,
                            .vocab = o.source_vocab,
                            .embedding = o.embedding,
                            .width = o.hidden,
                            .layers = o.encoder_layers,
                            .bidirectional = o.bidirectional,
                            .heads = o.heads,
                            .dropout = o.dropout,
                            .padding_idx = o.padding_idx,
                            .dtype = o.dtype})),
      decoder({.vocab = o.target_vocab,
               .embedding = o.embedding,
               .hidden = o.hidden,
               .memory = o.hidden,
               .cell = o.cell,
               .layers = o.decoder_layers,
               .attention = o.attention,
               .order = o.order,
               .input_feeding = o.input_feeding,
               .window = o.window,
               .max_source = o.max_source,
               .dropout = o.dropout,
               .padding_idx = o.padding_idx,
               .dtype = o.dtype}) {}

Tensor Seq2Seq::logits(const Tensor& source_ids, const Tensor& target,
                       const ScheduledSampling& sampling) const {
  check_sampling(sampling);
  const Encoded read = (*encoder)(source_ids);
  const AttentionDecoder::Source source = decoder.prepare(read);
  AttentionDecoder::State state = decoder.start(read);
  // With fewer tokens there is none to replace, or none that the decoder takes.
  const int64_t steps = target.defined() && target.dim() == 2 ? target.size(1) : 0;
  if (sampling.probability == 0 || steps < 2) {
    return decoder.logits(decoder(target, source, state).features);
  }
  const Tensor p = full({target.size(0), 1}, sampling.probability);
  Tensors all;
  for (int64_t t = 0; t < steps; ++t) {
    Tensor ids = narrow(target, 1, t, 1);
    if (t > 0) {
      const NoGrad scope;
      const Tensor drawn = sample_token(all.back().detach(), {}, sampling.generator);
      ids = where(fovea::to(bernoulli(p, sampling.generator), boolean), drawn, ids);
    }
    all.push_back(decoder.logits(decoder(ids, source, state).features));
  }
  return cat(all, 1);
}

Tensor Seq2Seq::alignment(const Tensor& source_ids, const Tensor& target) const {
  if (!decoder.attention) {
    throw ValueError("Seq2Seq: attention is \"none\"; such a model looks nowhere");
  }
  const NoGrad scope;
  const Encoded read = (*encoder)(source_ids);
  AttentionDecoder::State state = decoder.start(read);
  return unsqueeze(decoder(target, decoder.prepare(read), state).weights, 1);
}

std::unique_ptr<Decoding> Seq2Seq::decoding(const Tensor& source) const {
  return std::make_unique<RecurrentDecoding>(*this, source);
}

void Seq2Seq::visit(Visitor& v) {
  v("encoder", encoder);
  v("decoder", decoder);
}

}  // namespace fovea
