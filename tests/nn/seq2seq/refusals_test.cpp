// What encoders and decoders refuse to be made of, and what they say.
#include <gtest/gtest.h>

#include "fovea/core/error.h"
#include "fovea/ops/ops.h"
#include "tests/nn/seq2seq/models.h"
#include "tests/op_cases/refused.h"

namespace fovea {
namespace {

using namespace testing;
using cases::ErrorKind;
using cases::refused;

void refuses_options(const char* who, const char* says, Seq2SeqOptions o) {
  EXPECT_EQ(refused(who, ErrorKind::value, {says}, [&] { (void)Seq2Seq(o); }), "");
}

TEST(Seq2Seq, RefusesUnknownNames) {
  const auto with = [](Kind k) { return options_of(k); };
  refuses_options("make_encoder", "kind is \"gru2\"; it is rnn, lstm, gru or transformer",
                  with({.encoder = "gru2"}));
  refuses_options("make_recurrent", "kind is \"gru2\"; it is rnn, lstm or gru",
                  with({.decoder = "gru2"}));
  refuses_options("make_score", "kind is \"bogus\"; use dot", with({.attention = "bogus"}));
  refuses_options("make_score", "local-m and local-p", with({.attention = "local"}));
}

TEST(Seq2Seq, RefusesWidthsThatDoNotFit) {
  Seq2SeqOptions o = options_of({});
  o.hidden = 7;
  refuses_options("Encoder", "width is 7; a multiple of 2 is needed", o);
  o.bidirectional = false;
  EXPECT_NO_THROW((void)Seq2Seq(o));
  o.encoder = "transformer";
  EXPECT_THROW((void)Seq2Seq(o), ValueError);  // 7 in 2 heads
  for (int64_t Seq2SeqOptions::*width :
       {&Seq2SeqOptions::embedding, &Seq2SeqOptions::hidden, &Seq2SeqOptions::encoder_layers}) {
    o = options_of({});
    o.*width = 0;
    refuses_options("Encoder", " is 0", o);
  }
  o = options_of({});
  o.decoder_layers = 0;
  EXPECT_EQ(
      refused("AttentionDecoder", ErrorKind::value, {"layers is 0"}, [&] { (void)Seq2Seq(o); }),
      "");
  o = options_of({});
  o.padding_idx = kSymbols;
  refuses_options("Embedding", "padding_idx = 7 with 7 rows", o);
  o = options_of({.attention = "location"});
  o.max_source = 0;
  refuses_options("LocationScore", "max_length is 0", o);
  o = options_of({.attention = "local-p"});
  o.window = 0;
  refuses_options("LocalAttention", "window is 0", o);
}

TEST(AttentionDecoder, NeedsEqualWidthsWhereNothingProjects) {
  for (const char* kind : {"dot", "scaled_dot", "cosine"}) {
    EXPECT_EQ(
        refused("make_score", ErrorKind::value, {"query_dim is 6, key_dim is 4", kind},
                [&] {
                  (void)AttentionDecoder(
                      {.vocab = 3, .embedding = 2, .hidden = 6, .memory = 4, .attention = kind});
                }),
        "");
  }
  for (const char* kind : {"general", "additive", "concat", "local-p", "none"}) {
    EXPECT_NO_THROW((void)AttentionDecoder(
        {.vocab = 3, .embedding = 2, .hidden = 6, .memory = 4, .attention = kind}))
        << kind;
  }
}

TEST(AttentionDecoder, RefusesSourcesOfAnotherWidth) {
  for (const char* attention : {"additive", "none"}) {
    const AttentionDecoder d(
        {.vocab = 3, .embedding = 2, .hidden = 6, .memory = 4, .attention = attention});
    const Encoded good{zeros({2, 5, 4}), zeros({2, 4}), {}};
    const Encoded bad{zeros({2, 5, 3}), zeros({2, 3}), {}}, none;
    EXPECT_NO_THROW((void)d.prepare(good));
    for (const Encoded& e : {bad, none}) {
      EXPECT_EQ(refused("AttentionDecoder", ErrorKind::shape, {"summary is ", "need (B, 4)"},
                        [&] { (void)d.start(e); }),
                "");
      EXPECT_THROW((void)d.prepare(e), ShapeError) << attention;
    }
    AttentionDecoder::State state = d.start(good);  // of two sources
    const auto of_three = d.prepare({zeros({3, 5, 4}), zeros({3, 4}), {}});
    EXPECT_THROW((void)d(tensor({{0}, {1}}), of_three, state), ShapeError) << attention;
    EXPECT_THROW((void)d(tensor({{0}, {3}}), d.prepare(good), state), IndexError) << attention;
  }
}

TEST(Seq2Seq, RefusesIdsItCannotRead) {
  const auto model = model_of({});
  const Tensor good = tensor({{1, 2}, {3, 4}});
  const auto refuses = [&](const char* who, ErrorKind kind, const char* says, const Tensor& source,
                           const Tensor& target) {
    EXPECT_EQ(refused(who, kind, {says}, [&] { (void)model->logits(source, target); }), "");
  };
  using enum ErrorKind;
  refuses("Encoder", shape, "source is undefined; need (B, S)", {}, good);
  refuses("Encoder", shape, "source is [2]; need (B, S)", tensor({1, 2}), good);
  refuses("Encoder", shape, "source is [2, 0]; need (B, S)", zeros({2, 0}, i64), good);
  refuses("Encoder", dtype, "source is f32 [2, 2]; tokens are i64", zeros({2, 2}), good);
  refuses("embedding", index, "7", tensor({{1, 7}}), tensor({{1}}));
  for (const Tensor& bad : {tensor({{2, 3}, {kPad, 3}}), tensor({{2, kPad, 3}, {2, 3, 4}})}) {
    refuses("Encoder", value, "has a token behind padding; fill sentences up at the right", bad,
            good);
  }
  refuses("AttentionDecoder", shape, "ids is undefined, there are 2 sources", good, {});
  refuses("AttentionDecoder", shape, "ids is [2], there are 2 sources", good, tensor({1, 2}));
  refuses("AttentionDecoder", shape, "ids is [1, 2], there are 2 sources; need (B, T), B = 2", good,
          tensor({{1, 2}}));
  refuses("AttentionDecoder", shape, "ids is [2, 0]", good, zeros({2, 0}, i64));
  refuses("embedding", dtype, "f32", good, zeros({2, 2}));
}

TEST(Seq2Seq, SaysHowLongASourceMayBeForLocations) {
  const auto model = model_of({.attention = "location"});
  const Tensor longest = full({1, 8}, 2, i64), longer = full({1, 9}, 2, i64), ids = tensor({{1}});
  EXPECT_NO_THROW((void)model->logits(longest, ids));
  EXPECT_EQ(refused("LocationScore", ErrorKind::shape, {"keys is [1, 9, 8], max_length is 8"},
                    [&] { (void)model->logits(longer, ids); }),
            "");
}

}  // namespace
}  // namespace fovea
