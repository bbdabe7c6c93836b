#include "fovea/io/npz.h"

#include <fmt/format.h>

#include "fovea/io/npy.h"
#include "fovea/ops/ops.h"
#include "temp_dir.h"
#include "zip_bytes.h"

namespace {

using namespace fovea;
using namespace fovea::testing;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

TensorMap named_arrays() {
  TensorMap map;
  map.tensors = {{"flags", tensor_of<uint8_t>({3}, {1, 0, 1})},
                 {"layer/0.weight", tensor_of<float>({2, 3}, {1.5f, -0.0f, NAN, 1e-42f, -3, 0})},
                 {"", tensor_of<double>({0, 4}, {})},
                 {"a.npy", tensor_of<int64_t>({}, {INT64_MIN})},
                 {"n\xc3\xa4me", tensor_of<double>({1, 1, 1, 1, 1, 1, 1, 2}, {0.1, -INFINITY})}};
  return map;
}

void expect_same(const TensorMap& got, const TensorMap& want) {
  ASSERT_EQ(got.tensors.size(), want.tensors.size());
  for (size_t i = 0; i < want.tensors.size(); ++i) {
    const auto& [name, t] = want.tensors[i];
    EXPECT_EQ(got.tensors[i].first, name);
    EXPECT_EQ(got.tensors[i].second.dtype(), t.dtype()) << name;
    EXPECT_EQ(got.tensors[i].second.shape(), t.shape()) << name;
    EXPECT_EQ(raw_bytes(got.tensors[i].second), raw_bytes(t.contiguous())) << name;
  }
}

TEST(Npz, ComesBackBitByBitInOrder) {
  const TempDir dir;
  for (const bool compress : {false, true}) {
    write_npz(dir / "m.npz", named_arrays(), compress);
    expect_same(read_npz(dir / "m.npz"), named_arrays());
    write_npz(dir / "m.npz", {}, compress);
    EXPECT_TRUE(read_npz(dir / "m.npz").tensors.empty());
    EXPECT_EQ(slurp(dir / "m.npz"), ZipBytes().str());  // by its first bytes NumPy knows it
  }
  EXPECT_THAT(dir.list(), ElementsAre("m.npz"));
  const Tensor t = tensor_of<float>({2, 3}, {1, 2, 3, 4, 5, 6});
  TensorMap views;
  views.tensors = {{"transposed", t.t()}, {"expanded", t.unsqueeze(0).expand({3, 2, 3})}};
  write_npz(dir / "m.npz", views);
  expect_same(read_npz(dir / "m.npz"), views);
}

TEST(Npz, CompressesAndRepeatsItself) {
  const TempDir dir;
  TensorMap map;
  map.tensors = {{"zeros", zeros({1000, 1000})}};
  write_npz(dir / "stored", map);
  write_npz(dir / "deflated", map, true);
  EXPECT_GT(slurp(dir / "stored").size(), 4'000'000u);
  EXPECT_LT(slurp(dir / "deflated").size(), 10'000u);
  expect_same(read_npz(dir / "deflated"), map);
  const std::string before = slurp(dir / "deflated");
  write_npz(dir / "deflated", map, true);
  EXPECT_EQ(slurp(dir / "deflated"), before);
}

TEST(Npz, HoldsMoreMembersThanSixteenBitsCount) {
  const TempDir dir;
  TensorMap map;
  for (int i = 0; i < 70'000; ++i) {
    map.tensors.emplace_back(std::to_string(i), tensor_of<int64_t>({}, {i}));
  }
  write_npz(dir / "m", map);
  const TensorMap back = read_npz(dir / "m");
  ASSERT_EQ(back.tensors.size(), map.tensors.size());
  EXPECT_EQ(back.tensors.back().first, "69999");
  EXPECT_EQ(back.tensors.back().second.item<int64_t>(), 69'999);
}

// numpy.savez_compressed of NumPy 1.24: a = float32 0 to 5 as (2, 3), n = [True, False].
TEST(Npz, ReadsWhatNumPyWrites) {
  const TempDir dir;
  const char bytes[] =
      "\x50\x4b\x03\x04\x14\x00\x00\x00\x08\x00\x00\x00\x21\x00\x4f\xe9\x00\x2a\x55\x00\x00\x00\x98"
      "\x00\x00\x00\x05\x00\x14\x00\x61\x2e\x6e\x70\x79\x01\x00\x10\x00\x98\x00\x00\x00\x00\x00\x00"
      "\x00\x55\x00\x00\x00\x00\x00\x00\x00\x9b\xec\x17\xea\x1b\x10\xc9\xc8\x50\xc6\x50\xad\x9e\x92"
      "\x5a\x9c\x5c\xa4\x6e\xa5\xa0\x6e\x93\x66\xa2\xae\xa3\xa0\x9e\x96\x5f\x54\x52\x94\x98\x17\x9f"
      "\x5f\x94\x92\x0a\x12\x77\x4b\xcc\x29\x4e\x05\x8a\x17\x67\x24\x16\xa4\x02\xf9\x1a\x46\x3a\x0a"
      "\xc6\x9a\x3a\x0a\xb5\x0a\x64\x03\x2e\x06\x30\x68\xb0\x07\x12\x0e\x40\x04\xc4\x0d\x40\xbc\xc0"
      "\x01\x00\x50\x4b\x03\x04\x14\x00\x00\x00\x08\x00\x00\x00\x21\x00\xee\x19\xbb\x5d\x46\x00\x00"
      "\x00\x82\x00\x00\x00\x05\x00\x14\x00\x6e\x2e\x6e\x70\x79\x01\x00\x10\x00\x82\x00\x00\x00\x00"
      "\x00\x00\x00\x46\x00\x00\x00\x00\x00\x00\x00\x9b\xec\x17\xea\x1b\x10\xc9\xc8\x50\xc6\x50\xad"
      "\x9e\x92\x5a\x9c\x5c\xa4\x6e\xa5\xa0\x5e\x93\x64\xa8\xae\xa3\xa0\x9e\x96\x5f\x54\x52\x94\x98"
      "\x17\x9f\x5f\x94\x92\x0a\x12\x77\x4b\xcc\x29\x4e\x05\x8a\x17\x67\x24\x16\xa4\x02\xf9\x1a\x46"
      "\x3a\x9a\x3a\x0a\xb5\x0a\x14\x00\x2e\x46\x06\x00\x50\x4b\x01\x02\x14\x03\x14\x00\x00\x00\x08"
      "\x00\x00\x00\x21\x00\x4f\xe9\x00\x2a\x55\x00\x00\x00\x98\x00\x00\x00\x05\x00\x00\x00\x00\x00"
      "\x00\x00\x00\x00\x00\x00\x80\x01\x00\x00\x00\x00\x61\x2e\x6e\x70\x79\x50\x4b\x01\x02\x14\x03"
      "\x14\x00\x00\x00\x08\x00\x00\x00\x21\x00\xee\x19\xbb\x5d\x46\x00\x00\x00\x82\x00\x00\x00\x05"
      "\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x80\x01\x8c\x00\x00\x00\x6e\x2e\x6e\x70\x79\x50"
      "\x4b\x05\x06\x00\x00\x00\x00\x02\x00\x02\x00\x66\x00\x00\x00\x09\x01\x00\x00\x00\x00";
  TensorMap want;
  want.tensors = {{"a", tensor_of<float>({2, 3}, {0, 1, 2, 3, 4, 5})},
                  {"n", tensor_of<uint8_t>({2}, {1, 0})}};
  expect_same(read_npz(dir.put("m.npz", std::string(bytes, sizeof bytes - 1))), want);
}

TEST(Npz, ReadsEveryStyleOfMember) {
  const TempDir dir;
  TensorMap want;
  ZipBytes zip;
  for (int style = 0; style < 8; ++style) {
    const Tensor t = tensor_of<int64_t>({2}, {style, -style});
    const std::string name = std::to_string(style);
    want.tensors.emplace_back(name, t);
    zip.add(name + (style % 2 ? ".npy" : ""), encode_npy(t),
            {(style & 1) != 0, (style & 2) != 0, (style & 4) != 0});
  }
  for (const bool zip64 : {false, true}) {
    for (const std::string& comment :
         {std::string(), "PK\5\6" + std::string(40, 'x'), std::string(65'535, 'x')}) {
      expect_same(read_npz(dir.put("m", zip.str(zip64, comment))), want);
    }
  }
}

TEST(Npz, RefusesToWriteWhatCannotBeRead) {
  const TempDir dir;
  const Tensor t = tensor_of<float>({1}, {0});
  const auto message = [&](const TensorMap& map) {
    return message_of<ValueError>([&] { write_npz(dir / "m", map); });
  };
  EXPECT_THAT(message({{{"a", t}, {"a", t}}, {}}), HasSubstr("'a' occurs twice"));
  EXPECT_THAT(message({{{std::string("a\0b", 3), t}}, {}}), HasSubstr("'a\\x00b' holds a zero"));
  EXPECT_THAT(message({{{std::string(65'532, 'x'), t}}, {}}), HasSubstr("longer than 65531"));
  EXPECT_THAT(message({{{"\xff", t}}, {}}), HasSubstr("not UTF-8"));
  EXPECT_THAT(message({{{"a", Tensor()}}, {}}), HasSubstr("undefined"));
  EXPECT_THAT(message({{{"a", t}}, {{"k", "v"}}}), HasSubstr("metadata"));
  EXPECT_TRUE(dir.list().empty());
  EXPECT_THROW(write_npz(dir / "no/m", {{{"a", t}}, {}}), IoError);
  TensorMap longest;
  longest.tensors = {{std::string(65'531, 'x'), t}};
  write_npz(dir / "m", longest);
  expect_same(read_npz(dir / "m"), longest);
}

TEST(Npz, SaysWhatIsWrong) {
  const TempDir dir;
  const auto expect = [&](const std::string& bytes, const std::string& part) {
    const std::string path = dir.put("bad.npz", bytes);
    EXPECT_THAT(message_of<IoError>([&] { (void)read_npz(path); }),
                AllOf(StartsWith("read_npz: '" + path + "'"), HasSubstr(": expected "),
                      HasSubstr(part), HasSubstr(", found "), Not(HasSubstr("\n"))));
  };
  const std::string npy = encode_npy(tensor_of<float>({2}, {1, 2}));  // 136 bytes
  const auto n = npy.size();
  const std::string good = ZipBytes().add("a.npy", npy).str();
  // Where things are in it: a local header of 30 + 5 + 7 bytes, an entry of 46 + 5 + 7 + 4.
  const size_t data = 42, entry = data + n, end = entry + 62;
  const auto patched = [&](std::string file, size_t at, const std::string& bytes) {
    return file.replace(at, bytes.size(), bytes);
  };

  const std::string ends = "a zip archive that ends in its directory, found ";
  expect("", ends + "0 bytes");
  expect("<html>", ends + "a web page");
  expect("\x1f\x8b" + std::string(50, 'x'), ends + "a gzip file; gunzip it");
  expect(npy, ends + "a .npy file, which read_npy reads");
  expect(good.substr(0, end), ends + "a zip archive, which read_npz reads when it is whole");
  expect(good + "x", ends + "a zip archive");

  expect(patched(good, end + 4, little(1, 2)), "a zip archive in one file, found a part");
  expect(patched(good, end + 8, little(2, 2)), "a zip archive in one file, found a part");
  expect(patched(good, end + 8, little(2, 2) + little(2, 2)),
         fmt::format("a member of the directory of 46 bytes at byte {}, found 0 bytes", end));
  expect(patched(good, end + 8, little(0, 4)), "0 members to fill the directory, found 62 bytes");
  expect(patched(good, end + 12, little(63, 4)),
         fmt::format("the directory before byte {}, where its end stands, found 63 bytes", end));
  expect(patched(good, end + 12, little(61, 4)), "of the directory of 62 bytes at byte");
  expect(patched(good, end + 16, little(0xFFFFFFFF, 4)), "the directory before byte");
  expect(patched(good, end + 16, little(entry - 1, 4)), "a member of the directory at byte");
  expect(patched(good, entry + 28, little(0xFFFF, 2)), "a member of the directory of 65592 bytes");
  expect(patched(good, entry + 53, little(9, 2)), "member 'a.npy': expected extra fields that end");
  expect(patched(good, entry + 42, little(1, 4)), "a local header at byte 1, found 'K\\x03\\x04");
  expect(patched(good, entry + 42, little(999, 4)),
         "a local header of 30 bytes at byte 999, found");
  expect(patched(good, entry + 24, little(0xFFFFFFFF, 4)),
         "size 4294967295 in its local header, found 136");

  const std::string good64 = ZipBytes().add("a.npy", npy, {false, false, true}).str(true);
  const size_t entry64 = entry + 20, locator64 = entry64 + 90 + 56;
  expect(patched(good64, entry64 + 60, little(20, 2)), "expected 64-bit sizes, found 4 bytes");
  expect(patched(good64, entry64 + 62, little(~uint64_t{0}, 8)), "bytes, stored, found 136");
  expect(patched(good64, entry64 + 70, little(~uint64_t{0}, 8)), "of data before the directory");
  expect(patched(good64, entry64 + 78, little(~uint64_t{0}, 8)), "found the end before");
  expect(patched(good64, locator64 + 8, little(~uint64_t{0}, 8)), "a ZIP64 end of 56 bytes");
  expect(patched(good64, locator64 - 24, little(~uint64_t{0}, 8)), "in one file, found a part");
  expect(patched(good64, locator64 - 16, little(~uint64_t{0}, 8)), "the directory before byte");
  expect(patched(good64, locator64 - 8, little(~uint64_t{0}, 8)), "the directory before byte");
  expect(patched(good64, locator64 - 32, std::string(16, '\xff')), "a member of the directory");

  expect(patched(good, entry + 46, "b"), "the same name in its local header, found 'a.npy'");
  expect(patched(good, 8, little(8, 2)), "method 0 in its local header, found 8");
  expect(patched(good, 14, little(7, 4)), "CRC-32 ");
  expect(patched(good, 18, little(7, 4)), "packed size 136 in its local header, found 7");
  expect(patched(good, 22, little(7, 4)), "size 136 in its local header, found 7");
  expect(patched(good, 28, little(8, 2)), "136 bytes of data before the directory, found 135");
  expect(patched(good, data + 130, "x"), "tensor 'a': expected CRC-32 ");
  expect(patched(patched(good, 22, little(7, 4)), entry + 24, little(7, 4)),
         "tensor 'a': expected 7 bytes, stored, found 136");

  const auto of = [&](const std::string& name, const std::string& content, ZipStyle style = {}) {
    return ZipBytes().add(name, content, style).str();
  };
  expect(of("a.npy", npy, {false, false, false, 1}), "a member in clear, found an encrypted one");
  expect(patched(patched(good, 8, little(12, 2)), entry + 10, little(12, 2)),
         "method 0 (stored) or 8 (deflated), found 12");
  expect(of("a.npy", "hello"), "tensor 'a': expected a .npy file, which begins");
  const std::string none = "expected an array among its members, found 1, the first called ";
  expect(of("a.txt", "hello"), none + "'a.txt'");
  expect(of("folder/", ""), none + "'folder/'");
  expect(of("a.npy", npy.substr(0, n - 1)), "8 bytes of elements for shape [2] of 'f4', found 7");
  expect(of("a\n.npy", "hello"), "tensor 'a\\x0a'");
  expect(ZipBytes().add("a.npy", npy).add("a.npy", npy).str(), "names that occur once, found 'a'");
  expect(ZipBytes().add("a.npy", npy).add("a", npy).str(), "names that occur once, found 'a'");
}

TEST(Npz, PassesOverMembersThatAreNoArrays) {
  const TempDir dir;
  const Tensor a = tensor_of<float>({2}, {1, 2}), b = tensor_of<int64_t>({}, {3});
  TensorMap want;
  want.tensors = {{"a", a}, {"b", b}};
  const std::string file = ZipBytes()
                               .add("README.txt", "these are arrays")
                               .add("a.npy", encode_npy(a))
                               .add("folder/", "")
                               .add("notes", std::string(500, 'x'), {.deflate = true})
                               .add("b", encode_npy(b))
                               .add("secret.txt", "???", {.flags = 1})
                               .add("notes", "twice")
                               .str();
  expect_same(read_npz(dir.put("m.npz", file)), want);
}

// What object arrays, damage and encryption do to one member.
TEST(Npz, ReadsTheOthersWhereOneArrayCannotBeRead) {
  const TempDir dir;
  const Tensor a = tensor_of<float>({2}, {1, 2}), b = tensor_of<int64_t>({}, {3});
  std::string objects = encode_npy(a);
  objects.replace(objects.find("<f4"), 3, "|O8");
  std::string file = ZipBytes()
                         .add("objects.npy", objects)
                         .add("a.npy", encode_npy(a))
                         .add("locked.npy", encode_npy(a), {.flags = 1})
                         .add("damaged.npy", encode_npy(a))
                         .add("b.npy", encode_npy(b))
                         .add("b", encode_npy(a))
                         .str();
  file[file.find("damaged.npy") + 11 + 7 + 130] ^= 1;  // a name, an extra field, the elements
  EXPECT_THAT(message_of<IoError>([&] { (void)read_npz(dir.put("m.npz", file)); }),
              HasSubstr("tensor 'objects'"));
  TensorMap want;
  want.tensors = {{"a", a}, {"b", b}};
  std::vector<std::string> refused;
  expect_same(read_npz(dir / "m.npz", &refused), want);
  EXPECT_THAT(refused,
              ElementsAre(HasSubstr("'objects': expected dtype"), HasSubstr("'locked': expected a"),
                          HasSubstr("'damaged': expected CRC-32"), HasSubstr("found 'b' twice")));
}

/// Both ways of writing, and every style of member.
std::vector<std::string> small_files(const TempDir& dir) {
  TensorMap map;
  map.tensors = {{"a", tensor_of<float>({2}, {1, 2})}, {"b", tensor_of<uint8_t>({1}, {1})}};
  std::vector<std::string> files;
  for (const bool compress : {false, true}) {
    write_npz(dir / "good", map, compress);
    files.push_back(slurp(dir / "good"));
    for (const bool zip64 : {false, true}) {
      ZipBytes zip;
      for (const auto& [name, t] : map.tensors) {
        zip.add(name + ".npy", encode_npy(t), {compress, name == "a", zip64});
      }
      files.push_back(zip.str(zip64));
    }
  }
  return files;
}

TEST(Npz, NoPartOfAFileIsAFile) {
  const TempDir dir;
  for (const std::string& good : small_files(dir)) {
    for (size_t n = 0; n < good.size(); ++n) {
      EXPECT_THROW((void)read_npz(dir.put("m", good.substr(0, n))), IoError) << n;
    }
  }
}

// What the CRC-32 does not cover is checked in its own way, or says nothing about the tensors.
TEST(Npz, NoFlippedBitChangesATensor) {
  const TempDir dir;
  for (const std::string& good : small_files(dir)) {
    const TensorMap want = read_npz(dir.put("good", good));
    int harmless = 0;
    for (size_t bit = 0; bit < 8 * good.size(); ++bit) {
      std::string bad = good;
      bad[bit / 8] = static_cast<char>(bad[bit / 8] ^ 1 << bit % 8);
      TensorMap got;
      try {
        got = read_npz(dir.put("m", bad));
      } catch (const IoError&) {  // anything else fails the test
        continue;
      }
      expect_same(got, want);
      ++harmless;
    }
    EXPECT_GT(harmless, 0);
    EXPECT_LT(harmless, 2000) << 8 * good.size();
  }
}

}  // namespace
