#include "fovea/io/safetensors.h"

#include <bit>
#include <cstring>
#include <nlohmann/json.hpp>
#include <random>

#include "temp_dir.h"

namespace {

using namespace fovea;
using fovea::testing::message_of;
using fovea::testing::slurp;
using fovea::testing::TempDir;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

template <class T>
Tensor make(const Shape& shape, const std::vector<T>& values) {
  Tensor t = Tensor::empty(shape, dtype_of<T>());
  std::copy(values.begin(), values.end(), t.data<T>());
  return t;
}

std::string raw_bytes(const Tensor& t) {
  return std::string(t.raw(), static_cast<size_t>(t.numel() * item_size(t.dtype())));
}

/// A file of the header and data given.
std::string file_of(const std::string& header, const std::string& data) {
  const uint64_t n = header.size();
  std::string s(8, '\0');
  std::memcpy(s.data(), &n, 8);
  return s + header + data;
}

TensorMap sample() {
  const float nan = std::bit_cast<float>(0x7fc12345u);
  TensorMap map;
  map.tensors = {
      {"flags", make<uint8_t>({3}, {1, 0, 1})},
      {"layer.0.weight", make<float>({2, 3}, {1.5f, -0.0f, nan, 1e-42f, INFINITY, -3})},
      {"precise", make<double>({2}, {0.1, -NAN})},
      {"scalar", make<float>({}, {42})},
      {"empty", make<float>({0, 4}, {})},
      {"ids", make<int64_t>({1, 2}, {INT64_MIN, INT64_MAX})},
      {"n\xc3\xa4me \"quoted\"\n", make<int64_t>({}, {-7})},
  };
  map.metadata = {{"format", "fovea"}, {"note", "l\xc3\xadne\n\"two\""}};
  return map;
}

TEST(Safetensors, ComesBackBitByBitInOrder) {
  const TempDir dir;
  const TensorMap map = sample();
  write_safetensors(dir / "m.safetensors", map);
  const TensorMap back = read_safetensors(dir / "m.safetensors");
  EXPECT_EQ(back.metadata, map.metadata);
  ASSERT_EQ(back.tensors.size(), map.tensors.size());
  for (size_t i = 0; i < map.tensors.size(); ++i) {
    const auto& [name, t] = map.tensors[i];
    EXPECT_EQ(back.tensors[i].first, name);
    EXPECT_EQ(back.tensors[i].second.dtype(), t.dtype()) << name;
    EXPECT_EQ(back.tensors[i].second.shape(), t.shape()) << name;
    EXPECT_EQ(raw_bytes(back.tensors[i].second), raw_bytes(t)) << name;
  }
  EXPECT_THAT(dir.list(), ElementsAre("m.safetensors"));
  ASSERT_NE(back.find("scalar"), nullptr);
  EXPECT_EQ(back.find("scalar")->item(), 42);
  EXPECT_EQ(back.find("scala"), nullptr);

  write_safetensors(dir / "empty", TensorMap{});
  EXPECT_TRUE(read_safetensors(dir / "empty").tensors.empty());
}

TEST(Safetensors, WritesStridesInRowMajorOrder) {
  const TempDir dir;
  const Tensor t = make<float>({2, 3}, {1, 2, 3, 4, 5, 6});
  TensorMap map;
  map.tensors = {{"transposed", t.alias({3, 2}, {1, 3})},
                 {"expanded", t.alias({2, 2, 3}, {0, 0, 1})},
                 {"column", t.alias({2}, {3}, 1)},
                 {"backwards", t.alias({6}, {-1}, 5)}};
  write_safetensors(dir / "m", map);
  const TensorMap back = read_safetensors(dir / "m");
  for (size_t i = 0; i < map.tensors.size(); ++i) {
    EXPECT_EQ(back.tensors[i].second.to_vector<float>(), map.tensors[i].second.to_vector<float>())
        << map.tensors[i].first;
    EXPECT_TRUE(back.tensors[i].second.is_contiguous());
  }
}

TEST(Safetensors, AlignsEveryTensor) {
  const TempDir dir;
  for (size_t pad = 0; pad < 8; ++pad) {
    TensorMap map = sample();
    map.metadata["pad"] = std::string(pad, 'x');
    write_safetensors(dir / "m", map);
    const std::string file = slurp(dir / "m");
    uint64_t n = 0;
    std::memcpy(&n, file.data(), 8);
    EXPECT_EQ(n % 8, 0u);
    const auto header = nlohmann::json::parse(file.substr(8, n));
    for (const auto& [name, t] : map.tensors) {
      const int64_t begin = header[name]["data_offsets"][0];
      EXPECT_EQ(begin % item_size(t.dtype()), 0) << name;
      if (t.numel() > 0) {
        EXPECT_EQ(file.substr(8 + n + static_cast<size_t>(begin), raw_bytes(t).size()),
                  raw_bytes(t));
      }
    }
  }
}

TEST(Safetensors, RefusesToWriteWhatCannotBeRead) {
  const TempDir dir;
  const Tensor t = make<float>({1}, {0});
  const auto message = [&](TensorMap map) {
    return message_of<ValueError>([&] { write_safetensors(dir / "m", map); });
  };
  EXPECT_THAT(message({{{"a", t}, {"a", t}}, {}}), HasSubstr("'a' occurs twice"));
  EXPECT_THAT(message({{{"__metadata__", t}}, {}}), HasSubstr("__metadata__"));
  EXPECT_THAT(message({{{"a", Tensor()}}, {}}), HasSubstr("'a' is undefined"));
  EXPECT_THAT(message({{{"\xff", t}}, {}}), HasSubstr("UTF-8"));
  EXPECT_THAT(message({{{"a", t}}, {{"k", "\xff"}}}), HasSubstr("UTF-8"));
  EXPECT_TRUE(dir.list().empty());
  EXPECT_THROW(write_safetensors(dir / "no/m", {{{"a", t}}, {}}), IoError);
}

TEST(Safetensors, ConvertsOtherTypes) {
  const TempDir dir;
  const std::string header = R"({"h":{"dtype":"F16","shape":[8],"data_offsets":[0,16]},)"
                             R"("b":{"dtype":"BF16","shape":[3],"data_offsets":[16,22]},)"
                             R"("i":{"dtype":"I32","shape":[2],"data_offsets":[22,30]},)"
                             R"("u":{"dtype":"U8","shape":[2],"data_offsets":[30,32]}})";
  std::string data;
  for (unsigned v : {0x3C00u, 0xC000u, 0x7BFFu, 0x0001u, 0x8000u, 0x7C00u, 0xFC00u, 0x7E00u,
                     0x3F80u, 0xC040u, 0x7F80u}) {
    data += static_cast<char>(v & 255);
    data += static_cast<char>(v >> 8);
  }
  data += std::string("\xff\xff\xff\xff\x00\x00\x00\x80\x00\xff", 10);
  const TensorMap map = read_safetensors(dir.put("m", file_of(header, data)));
  const auto h = map.find("h")->to_vector<float>();
  EXPECT_EQ(map.find("h")->dtype(), f32);
  EXPECT_EQ((std::vector<float>(h.begin(), h.end() - 1)),
            (std::vector<float>{1, -2, 65504, 0x1p-24f, -0.0f, INFINITY, -INFINITY}));
  EXPECT_TRUE(std::signbit(h[4]));
  EXPECT_TRUE(std::isnan(h[7]));
  EXPECT_EQ(map.find("b")->to_vector<float>(), (std::vector<float>{1, -3, INFINITY}));
  EXPECT_EQ(map.find("i")->to_vector<int64_t>(), (std::vector<int64_t>{-1, INT32_MIN}));
  EXPECT_EQ(map.find("u")->to_vector<int64_t>(), (std::vector<int64_t>{0, 255}));
}

TEST(Safetensors, SaysWhatIsWrong) {
  const TempDir dir;
  const auto expect = [&](const std::string& bytes, const std::string& part) {
    const std::string path = dir.put("bad", bytes);
    EXPECT_THAT(message_of<IoError>([&] { (void)read_safetensors(path); }),
                AllOf(HasSubstr(path), HasSubstr(part)));
  };
  const auto entry = [](const std::string& shape, const std::string& offsets,
                        const std::string& dtype = "\"F32\"") {
    return R"({"dtype":)" + dtype + R"(,"shape":)" + shape + R"(,"data_offsets":)" + offsets + "}";
  };
  const auto one = [&](const std::string& e) { return "{\"a\":" + e + "}"; };
  const std::string four(4, 'x'), eight(8, 'x');

  expect("", "has 0 bytes");
  expect("1234567", "has 7 bytes");
  expect(std::string(8, '\xff'), "header of 18446744073709551615 bytes, above the limit");
  expect(std::string("\x01\xe1\xf5\x05\0\0\0\0", 8), "header of 100000001 bytes, above the limit");
  expect(std::string("\x03\0\0\0\0\0\0\0{}", 10), "header of 3 bytes, but 2 follow");
  expect(file_of("", ""), "not a JSON object");
  expect(file_of("[]", ""), "not a JSON object");
  expect(file_of("{", ""), "not valid JSON");
  expect(file_of("{}x", ""), "not valid JSON");
  expect(file_of("{\"\xff\":1}", ""), "not valid JSON");
  using std::string_literals::operator""s;
  expect(file_of("{}\0garbage"s, ""), "byte 2 of 10 is zero");
  expect(file_of("{}\0"s, ""), "byte 2 of 3 is zero");
  expect(file_of("{\"a\0b\":3}"s, ""), "is zero");
  // A zero byte in a name, which JSON can spell, does not cut the message off.
  expect(file_of(R"({"a\u0000b":3})", ""), "tensor 'a\\x00b': its entry is not");
  expect(file_of("{\"a\":" + std::string(100'000, '['), ""), "nested deeper");

  expect(file_of(one("3"), ""), "tensor 'a': its entry is not");
  expect(file_of(one("{}"), ""), "tensor 'a': its entry is not");
  expect(file_of(one(R"({"dtype":"F32","shape":[1],"offsets":[0,4]})"), four), "its entry is not");
  expect(file_of(one(entry("{}", "[0,4]")), four), "its entry is not");
  expect(file_of(one(entry("[1]", "[0,4]", "7")), four), "its entry is not");
  expect(file_of(one(entry("[1]", "[0,4]", "\"F8_E4M3\"")), four), "dtype F8_E4M3; F64, F32");
  expect(file_of(one(entry("[-1]", "[0,4]")), four), "shape holds -1");
  expect(file_of(one(entry("[1.0]", "[0,4]")), four), "shape holds 1.0");
  expect(file_of(one(entry("[\"1\"]", "[0,4]")), four), "shape holds \"1\"");
  expect(file_of(one(entry("[9223372036854775808]", "[0,4]")), four),
         "shape holds 9223372036854775808");
  expect(file_of(one(entry("[4294967296,4294967296]", "[0,4]")), four), "more elements than");
  expect(file_of(one(entry("[4611686018427387904]", "[0,0]")), ""), "more elements than");
  expect(file_of(one(entry("[0,4611686018427387904,4]", "[0,0]")), ""), "more elements than");
  expect(file_of(one(entry("[4611686018427387904,0]", "[0,0]")), ""), "more elements than");
  expect(file_of(one(entry("[0,1152921504606846976]", "[0,0]", "\"U8\"")), ""),
         "tensor 'a': shape [0, 1152921504606846976] has more elements than");
  expect(file_of(one(entry("[1,1,1,1,1,1,1,1,1]", "[0,4]")), four), "rank 9");
  expect(file_of(one(entry("[1000,1000]", "[0,4]")), four),
         "shape [1000, 1000] of F32 takes 4000000 bytes, its data_offsets [0, 4] hold 4");
  expect(file_of(one(entry("[1000,1000]", "[0,4000000]")), four), "out of range");
  expect(file_of(one(entry("[1]", "[4,0]")), four), "out of range");
  expect(file_of(one(entry("[1]", "[-4,0]")), four), "data_offsets holds -4");
  expect(file_of(one(entry("[1]", "[0]")), four), "not a pair");
  expect(file_of(one(entry("[1]", "[0,4,8]")), four), "not a pair");
  expect(file_of(one(entry("[1]", "[4,8]")), eight), "a hole of 4 bytes");
  expect(file_of(one(entry("[1]", "[0,4]")), eight), "4 bytes follow");
  expect(file_of("{}", four), "4 bytes follow");
  const std::string two = "{\"a\":" + entry("[1]", "[0,4]") + ",\"b\":";
  expect(file_of(two + entry("[1]", "[0,4]") + "}", four), "tensor 'b': its data overlap those of");
  expect(file_of(two + entry("[1]", "[2,6]") + "}", four + "xx"), "overlap");
  expect(
      file_of("{\"a\":" + entry("[1]", "[0,4]") + ",\"a\":" + entry("[1]", "[4,8]") + "}", eight),
      "key 'a' occurs twice");
  expect(file_of(one(R"({"dtype":"F32","dtype":"F32","shape":[1],"data_offsets":[0,4]})"), four),
         "key 'dtype' occurs twice");
  expect(file_of(one(entry("[2]", "[0,2]", "\"BOOL\"")), std::string("\1\2", 2)),
         "element 1 is the byte 2");
  expect(file_of(R"({"__metadata__":[]})", ""), "__metadata__ is not an object");
  expect(file_of(R"({"__metadata__":{"k":1}})", ""), "__metadata__ 'k' is not text");
  EXPECT_THAT(message_of<IoError>([&] { (void)read_safetensors(dir / "none"); }),
              HasSubstr("No such file"));
}

TEST(Safetensors, ReadsAnyOrderOfDataAndPadding) {
  const TempDir dir;
  const std::string header = R"({"second":{"data_offsets":[4,8],"shape":[1],"dtype":"F32"},)"
                             R"("none":{"dtype":"F32","shape":[0],"data_offsets":[4,4]},)"
                             R"("first":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}   )";
  const float values[] = {1, 2};
  std::string data(8, '\0');
  std::memcpy(data.data(), values, 8);
  const TensorMap map = read_safetensors(dir.put("m", file_of(header, data)));
  ASSERT_EQ(map.tensors.size(), 3u);
  EXPECT_EQ(map.tensors[0].first, "second");
  EXPECT_EQ(map.tensors[0].second.item(), 2);
  EXPECT_EQ(map.tensors[2].second.item(), 1);
}

// Whatever the bytes, the answer is a value that fits its shape or an IoError.
TEST(Safetensors, SurvivesMutations) {
  const TempDir dir;
  write_safetensors(dir / "good", sample());
  const std::string good = slurp(dir / "good");
  uint64_t header = 0;
  std::memcpy(&header, good.data(), 8);
  std::mt19937 random(7);
  const std::string pieces[] = {"[",
                                "]",
                                "{",
                                "}",
                                "\"",
                                ",",
                                ":",
                                "-1",
                                "0",
                                "9",
                                "1e9",
                                "null",
                                "99999999999999999999",
                                "F32",
                                "F64",
                                "I64",
                                "BOOL",
                                "F16",
                                "U8",
                                "\\u0000",
                                "\xff",
                                " "};
  int values = 0;
  for (int round = 0; round < 6000; ++round) {
    std::string bytes = good;
    const unsigned changes = random() % 3 + 1;
    for (unsigned c = 0; c < changes && bytes.size() > 16; ++c) {
      const size_t span = std::min<size_t>(bytes.size(), 8 + header);
      const size_t at = random() % 4 == 0 ? random() % 8 : random() % span;
      const std::string& piece = pieces[random() % std::size(pieces)];
      switch (random() % 6) {
        case 0:
          bytes[at] = static_cast<char>(random());
          break;
        case 1:
          bytes[at] = static_cast<char>(bytes[at] ^ 1 << random() % 8);
          break;
        case 2:
          bytes.replace(at, piece.size(), piece);
          break;
        case 3:
          bytes.insert(at, piece);
          break;
        case 4:
          bytes.erase(at, random() % 4 + 1);
          break;
        default:
          if (random() % 4 == 0) bytes.resize(at);
      }
    }
    // Keep the length right in half of the rounds, so that the JSON gets looked at.
    if (random() % 2 == 0 && bytes.size() >= 8 && bytes.size() + header > good.size()) {
      const uint64_t n = bytes.size() + header - good.size();
      std::memcpy(bytes.data(), &n, 8);
    }
    try {
      const TensorMap map = read_safetensors(dir.put("m", bytes));
      size_t sum = 0;
      for (const auto& entry : map.tensors) {
        for (char byte : raw_bytes(entry.second)) sum += static_cast<unsigned char>(byte);
      }
      EXPECT_LT(sum, bytes.size() * 255 * 4);
      ++values;
    } catch (const IoError&) {
      // anything else fails the test
    }
  }
  EXPECT_GT(values, 0);
  EXPECT_LT(values, 6000);
}

}  // namespace
