// All that decides the bits of a run, kept in its checkpoints.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "examples/common/recorded_flags.h"
#include "fovea/nn/seq2seq/encoder_decoder.h"

namespace fovea::seq2seq {

/// How a trained model writes.
struct DecodeFlags {
  int64_t beams = 1;
  double length_penalty = 0;
  double coverage_penalty = 0;
};

/// The defaults are those of phonemes with a recurrent model.
struct Config {
  // the task
  std::string task = "phonemes";  ///< phonemes, dates, reverse or pairs
  std::string file;               ///< of phonemes: another dictionary; of pairs: the pairs
  bool stress = false;            ///< phonemes: vowels carry their stress, dots between syllables
  int64_t samples = 10000;        ///< of dates and reverse
  int64_t shortest = 3, longest = 15;  ///< reverse: letters of a string
  std::string unit = "words";          ///< pairs: words, characters or bpe
  int64_t source_column = 1, target_column = 2;
  int64_t min_count = 2, max_vocabulary = 0, merges = 8000;
  int64_t max_length = 60, max_pairs = 0;
  // the model
  std::string attention = "additive";  ///< a name of the decoder, or transformer
  std::string cell = "gru", encoder = "gru";
  std::string order = "bahdanau";
  bool no_input_feeding = false;
  std::string positions = "rotary";  ///< of a Transformer's self-attention, or sinusoidal alone
  int64_t layers = 1, hidden = 256, embedding = 128, heads = 4, window = 4;
  double dropout = 0.3;
  // training
  uint64_t seed = 1;
  int64_t epochs = 16;
  int64_t batch = 128;
  double lr = 2e-3, min_lr = 1e-5, beta2 = 0.999;
  int64_t warm_up = 100;
  double clip = 1, label_smoothing = 0.1, weight_decay = 0;
  double sampling = 0;  ///< scheduled sampling reaches this probability at the end
  // testing, which decides no weights
  DecodeFlags decode = {.beams = 4};
  int64_t test_limit = 0;  ///< sequences of the test part; 0: all
  // what is not asked for as a flag: how text becomes tokens
  std::string source_vocabulary, target_vocabulary, source_bpe, target_bpe;
  int64_t max_source = 0;  ///< the longest source, for --attention location
  uint64_t data = 0;       ///< fingerprint of what is learnt from and tested on

  examples::RecordedFlags recorded();
};

/// The defaults of a task with an attention.
Config preset(const std::string& task, const std::string& attention);

std::unique_ptr<EncoderDecoder> make_model(const Config& c, int64_t source_vocab,
                                           int64_t target_vocab);

}  // namespace fovea::seq2seq
