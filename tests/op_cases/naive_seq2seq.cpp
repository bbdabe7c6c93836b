#include "tests/op_cases/naive_seq2seq.h"

#include <cmath>

#include "tests/op_cases/naive_attention.h"
#include "tests/op_cases/naive_recurrent.h"
#include "tests/op_cases/naive_transformer.h"

namespace fovea::cases {
namespace {

bool is_word(const EncoderOptions& o, const NaiveTensor& ids, int64_t b, int64_t t) {
  return ids.at({b, t}) != static_cast<double>(o.padding_idx);
}

Values1d tanh_of(Values1d x) {
  for (double& v : x) v = std::tanh(v);
  return x;
}

// The words of sentence b, out of x (B, S, D).
std::vector<Values1d> words_of(const EncoderOptions& o, const NaiveTensor& ids,
                               const NaiveTensor& x, int64_t b) {
  std::vector<Values1d> words;
  for (int64_t t = 0; t < ids.shape[1]; ++t) {
    if (is_word(o, ids, b, t)) words.push_back(line_at(x, b, t));
  }
  return words;
}

std::vector<NaiveRead> recurrent(const EncoderOptions& o, const NaiveTensor& ids, Parameters& p) {
  const NaiveTensor x = look_up(p.next(), ids);
  std::vector<NaiveCell> cells;
  for (int d = 0; d < (o.bidirectional ? 2 : 1); ++d)
    cells.push_back(take_cell(naive_kind(o.kind), p));
  std::vector<NaiveRead> all;
  for (int64_t b = 0; b < ids.shape[0]; ++b) {
    const auto words = words_of(o, ids, x, b);
    NaiveRead read{std::vector<Values1d>(words.size()), {}};
    for (size_t d = 0; d < cells.size(); ++d) {
      NaiveCell::State s = cells[d].start();
      for (size_t n = 0; n < words.size(); ++n) {
        const size_t t = d == 0 ? n : words.size() - 1 - n;
        cells[d].step(words[t], s);
        read.memory[t] = joined({read.memory[t], s.h});
      }
      read.summary = joined({read.summary, s.h});
    }
    all.push_back(read);
  }
  return all;
}

std::vector<NaiveRead> transformer(const EncoderOptions& o, const NaiveTensor& ids, Parameters& p) {
  const NaiveTensor rows = look_up(p.next(), ids);
  const auto width = static_cast<double>(o.width);
  const NaiveTensor x = build(rows.shape, [&](const Shape& i) {
    const double turn = std::pow(10000.0, -static_cast<double>(i[2] / 2 * 2) / width);
    const double angle = static_cast<double>(i[1]) * turn;
    return std::sqrt(width) * rows.at(i) + (i[2] % 2 == 0 ? std::sin(angle) : std::cos(angle));
  });
  NaiveHeads heads{.heads = o.heads, .kv_heads = o.heads};
  heads.sees = [&](int64_t b, int64_t, int64_t j) { return is_word(o, ids, b, j); };
  const NaiveTensor h = encoder_layer(x, p, heads, true);
  const NaiveTensor memory = take_norm(p)(h);
  std::vector<NaiveRead> all;
  for (int64_t b = 0; b < ids.shape[0]; ++b) {
    NaiveRead read{words_of(o, ids, memory, b), Values1d(static_cast<size_t>(o.width), 0.0)};
    for (const Values1d& word : read.memory) {
      for (size_t i = 0; i < word.size(); ++i) {
        read.summary[i] += word[i] / static_cast<double>(read.memory.size());
      }
    }
    all.push_back(read);
  }
  return all;
}

// A decoder's weights over the words of one sentence.
class Looking {
 public:
  Looking(const AttentionDecoderOptions& o, Parameters& p) : o_(o) {
    if (o.attention == "none" || o.attention == "dot") return;
    first_ = &p.next();  // W_q, or the W of general
    if (o.attention == "general") return;
    second_ = &p.next();  // W_k, or the W of the place
    third_ = &p.next();   // v
  }

  Values1d operator()(const Values1d& q, const std::vector<Values1d>& memory) const {
    const auto n = static_cast<double>(memory.size());
    const bool local = o_.attention == "local-p";
    const double centre =
        local ? n * sigmoid_of(naive_dot(third_->data, tanh_of(naive_product(*second_, q)))) : 0;
    const double sigma = static_cast<double>(o_.window) / 2;
    Values1d a;
    double sum = 0;
    for (size_t j = 0; j < memory.size(); ++j) {
      const double away = static_cast<double>(j) - centre;
      const bool near = !local || std::fabs(away) <= static_cast<double>(o_.window);
      const double e = near ? std::exp(score(q, memory[j])) : 0;
      sum += e;
      a.push_back(local ? e * std::exp(-away * away / (2 * sigma * sigma)) : e);
    }
    for (double& w : a) w = sum > 0 ? w / sum : 0;
    return a;
  }

 private:
  double score(const Values1d& q, const Values1d& k) const {
    if (o_.attention == "dot") return naive_dot(q, k);
    if (o_.attention != "additive") return naive_dot(q, naive_product(*first_, k));
    return naive_dot(third_->data,
                     naive_tanh(naive_product(*first_, q), naive_product(*second_, k)));
  }

  const AttentionDecoderOptions& o_;
  const NaiveTensor *first_ = nullptr, *second_ = nullptr, *third_ = nullptr;
};

}  // namespace

std::vector<NaiveRead> naive_encoder(const EncoderOptions& o, const NaiveTensor& ids,
                                     Parameters& p) {
  return o.kind == "transformer" ? transformer(o, ids, p) : recurrent(o, ids, p);
}

std::vector<NaiveSteps> naive_decoder(const AttentionDecoderOptions& o, const NaiveTensor& ids,
                                      const std::vector<NaiveRead>& sources, Parameters& p) {
  const NaiveTensor embedded = look_up(p.next(), ids);
  const NaiveTensor &bridge = p.next(), &bridge_bias = p.next();
  std::vector<NaiveCell> cells;
  for (int64_t l = 0; l < o.layers; ++l) cells.push_back(take_cell(naive_kind(o.cell), p));
  const Looking look(o, p);
  const NaiveTensor &readout = p.next(), &readout_bias = p.next();

  const bool looks = o.attention != "none", luong = o.order == DecoderOrder::luong;
  const auto width = static_cast<size_t>(o.hidden);
  std::vector<NaiveSteps> all;
  for (size_t b = 0; b < sources.size(); ++b) {
    const NaiveRead& source = sources[b];
    const Values1d first = tanh_of(naive_affine(bridge, bridge_bias, source.summary));
    std::vector<NaiveCell::State> s;
    for (size_t l = 0; l < cells.size(); ++l) {
      s.push_back(cells[l].start());
      for (size_t i = 0; i < width; ++i) {
        s[l].h[i] = first[l * width + i];
        if (o.cell == "lstm") s[l].c[i] = first[(cells.size() + l) * width + i];
      }
    }
    NaiveSteps steps;
    Values1d fed(width, 0.0), context = source.summary;
    const auto attend = [&] {
      if (!looks) return;
      steps.weights.push_back(look(s.back().h, source.memory));
      context.assign(static_cast<size_t>(o.memory), 0.0);
      for (size_t j = 0; j < source.memory.size(); ++j) {
        for (size_t i = 0; i < context.size(); ++i) {
          context[i] += steps.weights.back()[j] * source.memory[j][i];
        }
      }
    };
    for (int64_t t = 0; t < ids.shape[1]; ++t) {
      const Values1d e = line_at(embedded, static_cast<int64_t>(b), t);
      if (!luong) attend();
      Values1d in = e;
      if (!luong || !looks) {
        in = joined({e, context});
      } else if (o.input_feeding) {
        in = joined({e, fed});
      }
      for (size_t l = 0; l < cells.size(); ++l) {
        cells[l].step(in, s[l]);
        in = s[l].h;
      }
      if (luong) attend();
      const Values1d said = luong ? joined({in, context}) : joined({in, context, e});
      fed = tanh_of(naive_affine(readout, readout_bias, said));
      steps.features.push_back(fed);
    }
    all.push_back(steps);
  }
  return all;
}

}  // namespace fovea::cases
