#include "fovea/io/npy.h"

#include <bit>
#include <cmath>

#include "fovea/ops/ops.h"
#include "npy_bytes.h"
#include "temp_dir.h"

namespace {

using namespace fovea;
using namespace fovea::testing;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

void expect_same(const Tensor& got, const Tensor& want, const std::string& what) {
  ASSERT_EQ(got.dtype(), want.dtype()) << what;
  ASSERT_EQ(got.shape(), want.shape()) << what;
  EXPECT_TRUE(got.is_contiguous()) << what;
  EXPECT_EQ(raw_bytes(got), raw_bytes(want.contiguous())) << what;
}

TEST(Npy, ComesBackBitByBit) {
  const TempDir dir;
  const float nan = std::bit_cast<float>(0x7fa12345u);
  const std::pair<const char*, Tensor> cases[] = {
      {"bool", tensor_of<uint8_t>({3}, {1, 0, 1})},
      {"i64", tensor_of<int64_t>({1, 2}, {INT64_MIN, INT64_MAX})},
      {"f32", tensor_of<float>({2, 3}, {1.5f, -0.0f, nan, 1e-42f, INFINITY, -3})},
      {"f64", tensor_of<double>({2}, {0.1, -NAN})},
      {"0-dim", tensor_of<float>({}, {42})},
      {"zero size", tensor_of<double>({2, 0, 4}, {})},
      {"zero size 1-d", tensor_of<uint8_t>({0}, {})},
      {"rank 8", tensor_of<int64_t>({1, 2, 1, 1, 3, 1, 1, 1}, {1, 2, 3, 4, 5, 6})}};
  for (const auto& [what, t] : cases) {
    write_npy(dir / "t.npy", t);
    expect_same(read_npy(dir / "t.npy"), t, what);
  }
  EXPECT_THAT(dir.list(), ElementsAre("t.npy"));
}

TEST(Npy, WritesStridesInRowMajorOrder) {
  const TempDir dir;
  const Tensor t = tensor_of<float>({2, 3}, {1, 2, 3, 4, 5, 6});
  const std::pair<const char*, Tensor> cases[] = {{"transposed", t.t()},
                                                  {"expanded", t.unsqueeze(1).expand({2, 4, 3})},
                                                  {"sliced", t.slice(1, 0, kEnd, 2)},
                                                  {"column", t.select(1, 1)},
                                                  {"backwards", t.alias({6}, {-1}, 5)}};
  for (const auto& [what, view] : cases) {
    write_npy(dir / "t.npy", view);
    expect_same(read_npy(dir / "t.npy"), view, what);
  }
  const Tensor leaf = t.clone().requires_grad_();
  write_npy(dir / "t.npy", leaf.t());
  EXPECT_FALSE(read_npy(dir / "t.npy").requires_grad());
}

// What numpy.save of NumPy 1.24 writes for the same arrays.
TEST(Npy, WritesWhatNumPyWrites) {
  const auto file = [](std::string dict, const std::string& data) {
    dict.resize(117, ' ');
    return "\x93NUMPY\x01" + std::string("\0\x76\0", 3) + dict + "\n" + data;
  };
  EXPECT_EQ(encode_npy(tensor_of<int64_t>({2, 1}, {1, -2})),
            file("{'descr': '<i8', 'fortran_order': False, 'shape': (2, 1), }",
                 std::string("\1\0\0\0\0\0\0\0\xfe\xff\xff\xff\xff\xff\xff\xff", 16)));
  EXPECT_EQ(
      encode_npy(tensor_of<uint8_t>({2}, {1, 0})),
      file("{'descr': '|b1', 'fortran_order': False, 'shape': (2,), }", std::string("\1\0", 2)));
  EXPECT_EQ(encode_npy(tensor_of<float>({}, {1})),
            file("{'descr': '<f4', 'fortran_order': False, 'shape': (), }",
                 std::string("\0\0\x80\x3f", 4)));
  const size_t long_header = encode_npy(tensor_of<double>(Shape::filled(8, 1), {1})).size() - 8;
  EXPECT_EQ(long_header % 64, 0u);
}

TEST(Npy, ReadsEveryVersionAndSpelling) {
  const Tensor want = tensor_of<float>({1, 2}, {1, 2});
  const std::string data = raw_bytes(want);
  for (const std::string dict :
       {"{'descr': '<f4', 'fortran_order': False, 'shape': (1, 2), }      \n",
        "{'descr':'<f4','fortran_order':False,'shape':(1,2)}",
        "\t{ \"shape\" : ( 1 ,\n 2 , ) ,\r\n 'fortran_order'\t: False , \"descr\" : \"<f4\" , } ",
        "{'fortran_order': False, 'shape': (1L, 2L), 'descr': '<f4'}"}) {
    for (int major = 1; major <= 3; ++major) {
      expect_same(decode_npy(npy_file(dict, data, major), "here"), want, dict);
    }
  }
}

TEST(Npy, ConvertsOtherTypesOfBothByteOrders) {
  struct Case {
    std::string type;
    std::vector<uint64_t> elements;
    DType dtype;
    std::vector<double> values;
  };
  const double small = 0x1p-24;
  const Case cases[] = {
      {"f2",
       {0x3C00, 0xC000, 0x7BFF, 0x0400, 0x03FF, 0x0001, 0x8001, 0x7C00, 0xFC00, 0},
       f32,
       {1, -2, 65504, 0x1p-14, 1023 * small, small, -small, INFINITY, -INFINITY, 0}},
      {"f4", {0x3FC00000, 0xFF800000}, f32, {1.5, -INFINITY}},
      {"f8", {0x3FF8000000000000, 0x8000000000000001}, f64, {1.5, -5e-324}},
      {"i8", {0x000A0B0C0D0E0F10, ~uint64_t{0}}, i64, {0x000A0B0C0D0E0F10, -1}},
      {"i4", {0x80000000, 0x7FFFFFFF, 0xFFFFFFFE}, i64, {INT32_MIN, INT32_MAX, -2}},
      {"i2", {0x8000, 0x7FFF, 0x0102}, i64, {INT16_MIN, INT16_MAX, 258}},
      {"i1", {0x80, 0x7F, 0xFF}, i64, {-128, 127, -1}},
      {"u4", {0xFFFFFFFF, 1}, i64, {4294967295.0, 1}},
      {"u2", {0xFFFF, 0x0102}, i64, {65535, 258}},
      {"u1", {0xFF, 0}, i64, {255, 0}},
      {"b1", {1, 0}, boolean, {1, 0}}};
  for (const Case& c : cases) {
    const int width = c.type[1] - '0';
    for (const char order : {'<', '>', '|'}) {
      if (order == '|' && width > 1) continue;
      std::string data;
      for (const uint64_t element : c.elements) {
        std::string bytes = little(element, width);
        if (order == '>') std::reverse(bytes.begin(), bytes.end());
        data += bytes;
      }
      const std::string shape = "(" + std::to_string(c.elements.size()) + ",)";
      const Tensor t = decode_npy(npy_file(npy_dict(order + c.type, shape), data), "here");
      EXPECT_EQ(t.dtype(), c.dtype) << order << c.type;
      EXPECT_EQ(t.to_vector(), c.values) << order << c.type;
    }
  }
  const Tensor special =
      decode_npy(npy_file(npy_dict("<f2", "(2,)"), std::string("\x01\xfe\x00\x80", 4)), "here");
  EXPECT_EQ(raw_bytes(special), little(0xFFC02000, 4) + little(0x80000000, 4));  // NaN, -0
}

TEST(Npy, TurnsFortranOrderToRows) {
  const std::string bytes("\1\2\3\4\5\6\7\x08\x09\x0a\x0b\x0c", 12);
  const auto values = [&](const std::string& shape) {
    const Tensor t = decode_npy(npy_file(npy_dict("|u1", shape, "True"), bytes), "here");
    EXPECT_TRUE(t.is_contiguous());
    EXPECT_EQ(
        "(" + t.shape().str().substr(1, t.shape().str().size() - 2) + (t.dim() == 1 ? ",)" : ")"),
        shape);
    return t.to_vector<int64_t>();
  };
  EXPECT_THAT(values("(12,)"), ElementsAre(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12));
  EXPECT_THAT(values("(3, 4)"), ElementsAre(1, 4, 7, 10, 2, 5, 8, 11, 3, 6, 9, 12));
  EXPECT_THAT(values("(2, 3, 2)"), ElementsAre(1, 7, 3, 9, 5, 11, 2, 8, 4, 10, 6, 12));
  EXPECT_EQ(decode_npy(npy_file(npy_dict("|u1", "()", "True"), "\7"), "here").item(), 7);
  EXPECT_EQ(decode_npy(npy_file(npy_dict("|u1", "(0, 3)", "True"), ""), "here").shape(),
            Shape({0, 3}));
}

TEST(Npy, SaysWhatIsWrong) {
  const TempDir dir;
  const auto expect = [&](const std::string& bytes, const std::string& part) {
    const std::string path = dir.put("bad.npy", bytes);
    EXPECT_THAT(message_of<IoError>([&] { (void)read_npy(path); }),
                AllOf(StartsWith("read_npy: '" + path + "': expected "), HasSubstr(part),
                      HasSubstr(", found "), Not(HasSubstr("\n"))));
  };
  const std::string four(4, '\0');
  const auto dict = [&](const std::string& text, const std::string& part) {
    expect(npy_file(text, four), part);
  };

  expect("", "which begins with '\\x93NUMPY', found 0 bytes");
  expect("\x93NUM", "found '\\x93NUM'");
  expect("\x93NUMPY\1", "a version after '\\x93NUMPY', found the end");
  expect("\x1f\x8b\x08", "found a gzip file; gunzip it");
  expect("\n<html>", "found a web page; fetch the file again");
  expect("PK\3\4...", "found a zip archive, which read_npz reads");
  expect("version https://git-lfs", "found a Git LFS pointer");
  expect("\x93NUMPY" + std::string("\0\0\1\0 ", 5), "version 1.0, 2.0 or 3.0, found 0.0");
  expect("\x93NUMPY" + std::string("\4\0\1\0 ", 5), "found 4.0");
  expect("\x93NUMPY" + std::string("\1\1\1\0 ", 5), "found 1.1");
  expect("\x93NUMPY" + std::string("\1\0\1", 3), "header length of 2 bytes, found 1 bytes");
  expect("\x93NUMPY" + std::string("\2\0\1\0\0", 5), "header length of 4 bytes, found 3 bytes");
  expect("\x93NUMPY" + std::string("\1\0\xff\xff{}", 6), "a header of 65535 bytes, found 2 bytes");
  expect("\x93NUMPY" + std::string("\3\0\xff\xff\xff\xff{}", 8),
         "a header of 4294967295 bytes, found 2 bytes");

  dict("", "'{' at byte 0 of the header, found its end");
  dict("[]", "'{' at byte 0 of the header, found '[]'");
  dict("{", "a key in quotes at byte 1 of the header, found its end");
  dict("{}", "descr, fortran_order and shape in the header, found no descr");
  dict("{,}", "a key in quotes at byte 1");
  dict("{descr: 1}", "a key in quotes at byte 1");
  dict("{'descr", "a key in quotes at byte 1");
  dict("{'descr' '<f4'}", "':' after a key at byte 9 of the header, found ''<f4'}'");
  dict("{'descr': <f4}", "a dtype in quotes");
  dict("{'descr': [('x', '<f4'), ('y', '<f4')]}",
       "(structured dtypes are not read), at byte 10 of the header, found '[('x', ");
  dict("{'descr': '<\\x66'}", "a dtype in quotes");
  dict("{'descr': '<f4\n'}", "found ''<f4\\x0a'}'");
  dict("{'descr': '<f4' 'shape': ()}", "',' or '}' at byte 16");
  dict("{'descr': '<f4', 'descr': '<f4'}",
       "keys that occur once in the header, found 'descr' twice");
  dict("{'dtype': '<f4'}", "found 'dtype'");
  dict("{'descr': '<f4', 'shape': ()}", "found no fortran_order");
  dict("{'descr': '<f4', 'fortran_order': False}", "found no shape");
  dict(npy_dict("<f4", "()") + "x", "nothing after the '}'");
  dict(npy_dict("<f4", "()", "0"), "True or False at byte");
  dict(npy_dict("<f4", "1"), "'(' before the shape");
  dict(npy_dict("<f4", "[1]"), "'(' before the shape");
  dict(npy_dict("<f4", "(1)"), "',' after the only size");
  dict(npy_dict("<f4", "(,)"), "a size from 0 at byte");
  dict(npy_dict("<f4", "(1,,)"), "a size from 0 at byte");
  dict(npy_dict("<f4", "(-1,)"), "a size from 0 at byte 51 of the header, found '-1,)}");
  dict(npy_dict("<f4", "(-0,)"), "a size from 0");
  dict(npy_dict("<f4", "(+1,)"), "a size from 0");
  dict(npy_dict("<f4", "(1.0, 1)"), "',' after the only size");
  dict(npy_dict("<f4", "(1, 1e9)"), "',' or ')' after a size");
  dict(npy_dict("<f4", "(9223372036854775808,)"), "a size below 2^63");
  dict(npy_dict("<f4", "(1, 1, 1, 1, 1, 1, 1, 1, 1)"), "a shape of at most 8 sizes");

  for (const std::string descr : {"|O", "<U5", "|S3", "<c8", "|V4", "<M8[ns]", "<u8", "<f16", "f4",
                                  "=f4", "|f4", "", "<", "<f", "<f44", "<i3"}) {
    dict(npy_dict(descr, "(1,)"), "as '<f4' or '>f4', found '" + descr + "'");
  }
  dict(npy_dict("|O", "(1,)"), "found '|O' (Python objects)");

  dict(npy_dict("<f4", "(2,)"), "8 bytes of elements for shape [2] of 'f4', found 4");
  dict(npy_dict("|b1", "(3,)"), "3 bytes of elements for shape [3] of 'b1', found 4");
  dict(npy_dict("<f4", "(0,)"), "0 bytes of elements for shape [0] of 'f4', found 4");
  dict(npy_dict("<f4", "(1000000000000,)"), "4000000000000 bytes of elements");
  dict(npy_dict("<f4", "(4294967296, 4294967296)"), "at most 2^59 elements");
  dict(npy_dict("<f4", "(0, 4294967296, 4294967296)"), "at most 2^59 elements");
  dict(npy_dict("<f8", "(1152921504606846976,)"), "at most 2^59 elements");
  // A size of 0 excuses no other, and the limit does not depend on the width.
  dict(npy_dict("<f4", "(0, 4611686018427387904)"), "at most 2^59 elements");
  dict(npy_dict("|u1", "(0, 1152921504606846976)"), "at most 2^59 elements");
  dict(npy_dict("|u1", "(1152921504606846976, 0)"), "at most 2^59 elements");
  expect(npy_file(npy_dict("|b1", "(3,)"), std::string("\1\0\2", 3)),
         "booleans of 0 or 1, found 2 in element 2");
  EXPECT_THAT(message_of<IoError>([&] { (void)read_npy(dir / "none"); }),
              HasSubstr("No such file"));
}

TEST(Npy, RefusesToWriteNothing) {
  const TempDir dir;
  EXPECT_THAT(message_of<ValueError>([&] { write_npy(dir / "t.npy", Tensor()); }),
              HasSubstr("undefined"));
  EXPECT_TRUE(dir.list().empty());
  EXPECT_THROW(write_npy(dir / "no/t.npy", tensor_of<float>({}, {1})), IoError);
}

TEST(Npy, NoPartOfAFileIsAFile) {
  for (const Tensor& t : {tensor_of<float>({2, 2}, {1, 2, 3, 4}), tensor_of<uint8_t>({0}, {})}) {
    const std::string good = encode_npy(t);
    for (size_t n = 0; n < good.size(); ++n) {
      // A copy of its own, so that a sanitizer sees a read past its end.
      const std::vector<char> part(good.begin(), good.begin() + static_cast<std::ptrdiff_t>(n));
      EXPECT_THROW((void)decode_npy({part.data(), n}, "here"), IoError) << n;
    }
  }
}

TEST(Npy, EveryFlippedBitIsAnErrorOrATensor) {
  const Tensor t = tensor_of<uint8_t>({2, 2}, {1, 0, 0, 1});
  const std::string good = encode_npy(t);
  int errors = 0, tensors = 0;
  for (size_t bit = 0; bit < 8 * good.size(); ++bit) {
    std::string bad = good;
    bad[bit / 8] = static_cast<char>(bad[bit / 8] ^ 1 << bit % 8);
    try {
      EXPECT_EQ(decode_npy(bad, "here").numel(), 4) << bit;
      ++tensors;
    } catch (const IoError&) {  // anything else fails the test
      ++errors;
    }
  }
  EXPECT_GT(errors, 900);
  EXPECT_GT(tensors, 4);  // the truth of each element, and white space for other white space
}

}  // namespace
