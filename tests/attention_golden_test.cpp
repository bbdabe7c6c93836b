// The numbers of PyTorch for scores and for the attention layers of tutorials: results and all
// gradients. golden/make_attention_golden.py writes them.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/op_cases/golden.h"

namespace fovea::cases {
namespace {

TEST(AttentionGolden, AgreesWithPyTorch) {
  const Golden golden(FOVEA_SOURCE_DIR "/tests/golden/attention.safetensors");
  EXPECT_EQ(golden.rows().size(), 19u) << "rows were lost: run make_attention_golden.py again";
  for (const std::string& id : golden.rows()) {
    const auto row =
        std::find_if(table().begin(), table().end(), [&](const OpCase& r) { return r.id() == id; });
    ASSERT_NE(row, table().end()) << id << " is no row of the case table";
    for (const DType t : {f64, f32}) {
      const Golden::Agreement a = golden.compare(*row, t);
      EXPECT_LE(a.error, t == f64 ? 1e-10 : 1e-5) << id << " " << name(t) << " " << a.where;
    }
  }
}

}  // namespace
}  // namespace fovea::cases
