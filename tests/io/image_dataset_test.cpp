#include "fovea/io/image_dataset.h"

#include "idx_bytes.h"
#include "temp_dir.h"

namespace {

using namespace fovea;
using fovea::testing::gzip;
using fovea::testing::idx_header;
using fovea::testing::message_of;
using fovea::testing::TempDir;
using ::testing::AllOf;
using ::testing::HasSubstr;

std::string images(uint32_t n) { return idx_header({n, 2, 2}) + std::string(n * 4, '\x7f'); }
std::string labels(const std::string& v) {
  return idx_header({static_cast<uint32_t>(v.size())}) + v;
}

TEST(ImageDataset, FindsEverySpelling) {
  for (const char* form :
       {"{}-idx{}-ubyte", "{}-idx{}-ubyte.gz", "{}.idx{}-ubyte", "{}.idx{}-ubyte.gz"}) {
    const TempDir dir;
    const auto spell = [&](std::string name, const std::string& rank) {
      std::string s = form;
      s.replace(s.find("{}"), 2, name);
      return s.replace(s.find("{}"), 2, rank);
    };
    const bool gz = std::string(form).find(".gz") != std::string::npos;
    const auto pack = [&](const std::string& s) { return gz ? gzip(s) : s; };
    dir.put(spell("train-images", "3"), pack(images(3)));
    dir.put(spell("train-labels", "1"), pack(labels("\x01\x02\x09")));
    dir.put(spell("t10k-images", "3"), pack(images(1)));
    dir.put(spell("t10k-labels", "1"), pack(labels("\x04")));
    const ImageDataset train = load_image_dataset(dir.path(), true);
    EXPECT_EQ(train.images.shape(), Shape({3, 2, 2}));
    EXPECT_EQ(train.labels.to_vector<int64_t>(), (std::vector<int64_t>{1, 2, 9}));
    EXPECT_EQ(load_image_dataset(dir.path(), false).labels.item<int64_t>(), 4);
  }
}

TEST(ImageDataset, SaysWhatIsMissingOrWrong) {
  const TempDir dir;
  const auto message = [&] {
    return message_of<IoError>([&] { (void)load_image_dataset(dir.path(), true); });
  };
  EXPECT_THAT(message_of<IoError>([&] { (void)load_image_dataset(dir / "none", true); }),
              AllOf(HasSubstr(dir / "none"), HasSubstr("does not exist")));
  EXPECT_THAT(message_of<IoError>([&] { (void)load_image_dataset(dir.put("f", ""), true); }),
              HasSubstr("is not a folder"));
  EXPECT_THAT(message(), AllOf(HasSubstr("holds none of train-images-idx3-ubyte, "),
                               HasSubstr("train-images.idx3-ubyte.gz")));
  dir.put("train-images-idx3-ubyte", images(3));
  EXPECT_THAT(message(), HasSubstr("holds none of train-labels-idx1-ubyte, "));
  dir.put("train-labels-idx1-ubyte", labels("\x01\x02"));
  EXPECT_THAT(message(), AllOf(HasSubstr("holds 3 images"), HasSubstr("holds 2 labels")));
  dir.put("train-labels-idx1-ubyte", labels("\x01\x02\x0a"));
  EXPECT_THAT(message(), HasSubstr("label 10 at index 2; with 10 classes labels are 0 to 9"));
  EXPECT_EQ(load_image_dataset(dir.path(), true, 11).labels.numel(), 3);
  dir.put("train-images-idx3-ubyte", images(0));
  dir.put("train-labels-idx1-ubyte", labels(""));
  EXPECT_THAT(message(), HasSubstr("holds no pixels"));
}

TEST(ImageDataset, ReadsFashionMnist) {
  const std::string folder = "/usr/share/datasets/fashion-mnist";
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << "dataset-fashion-mnist is not installed";
  const ImageDataset test = load_image_dataset(folder, false);
  EXPECT_EQ(test.images.shape(), Shape({10000, 28, 28}));
  std::vector<int> count(10);
  for (int64_t label : test.labels.to_vector<int64_t>()) ++count[static_cast<size_t>(label)];
  EXPECT_THAT(count, ::testing::Each(1000));
  EXPECT_EQ(test.labels.at({0}), 9);  // an ankle boot
}

}  // namespace
