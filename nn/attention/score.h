// Scores: how much query q wants key k. Attention is a score, a softmax over the keys, and a mean
// of values (soft.h); its kinds differ in the score. Any layer here can be built over any of them.
//
//     dot         q . k                                Luong 2015, section 3.1   product_scores.h
//     scaled_dot  q . k / sqrt(D)                      Vaswani 2017, eq. 1       product_scores.h
//     cosine      beta cos(q, k)                       Graves 2014, eq. 5        product_scores.h
//     general     q' W k                               Luong 2015, section 3.1   product_scores.h
//     additive    v' tanh(W_q q + W_k k)               Bahdanau 2014, A.1.2      additive_scores.h
//     concat      v' tanh(W [q ; k] + b)               Luong 2015, section 3.1   additive_scores.h
//     location    (W q)_j                              Luong 2015, section 3.1   location_score.h
//
// What a score does to the keys alone it does once a sentence: a decoder that asks for one word
// after another calls project() once and with_projected() at every step.
#pragma once

#include <memory>
#include <string_view>

#include "fovea/nn/module.h"

namespace fovea {

/// q (B, Tq, Dq), keys (B, Tk, Dk) -> (B, Tq, Tk). ShapeError for other shapes, DTypeError unless
/// both are floating.
class Score : public Module {
 public:
  /// with_projected(q, project(keys)).
  Tensor operator()(const Tensor& q, const Tensor& keys) const;
  /// What the score needs of the keys, (B, Tk, a width of its own); the keys themselves where there
  /// is nothing to compute.
  Tensor project(const Tensor& keys) const;
  Tensor with_projected(const Tensor& q, const Tensor& projected) const;

 protected:
  /// The name begins every message. 0 for a width that may be any; when that is the query's, it
  /// must be that of what is projected.
  Score(const char* name, int64_t query_dim, int64_t key_dim);
  /// ValueError, in the name of the score, unless n is at least 1.
  static int64_t at_least_1(const char* name, const char* what, int64_t n);
  const char* name() const { return name_; }

 private:
  virtual Tensor of_keys(const Tensor& keys) const { return keys; }
  virtual Tensor scores(const Tensor& q, const Tensor& projected) const = 0;
  void check(const char* arg, const char* time, const Tensor& x, int64_t width) const;
  void check_pair(const Tensor& q, const char* arg, const Tensor& k) const;

  const char* name_;
  int64_t query_dim_, key_dim_;
};

/// What make_score needs to know; each kind reads what it has.
struct ScoreOptions {
  int64_t query_dim = 0;
  int64_t key_dim = 0;
  int64_t hidden = 0;      ///< of additive and concat
  int64_t max_length = 0;  ///< of location: the most keys there can be
  DType dtype = f32;
};
/// A score by its name in the table above. ValueError for another name, for a width that it needs
/// and did not get, and when dot, scaled_dot or cosine get two different ones.
std::unique_ptr<Score> make_score(std::string_view kind, const ScoreOptions& o);

}  // namespace fovea
