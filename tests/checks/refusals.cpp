// What a row says is refused.
#include <gtest/gtest.h>

#include <cctype>

#include "tests/checks/checks.h"
#include "tests/op_cases/refused.h"

namespace fovea::cases {

// Shape errors name the sizes of the first operand at least, beside what the row says. A layer says
// who refuses: itself, or the operation that it leaves that to (Linear to linear).
void bad_inputs(const OpCase& row) {
  const bool layer = std::isupper(static_cast<unsigned char>(row.name[0]));
  for (size_t i = 0; i < row.bad.size(); ++i) {
    const BadCase& bad = row.bad[i];
    const std::string op = layer ? bad.message.substr(0, bad.message.find(':')) : row.name;
    const Tensors inputs = make_inputs(bad.inputs, f32, kSeed);
    std::vector<std::string> parts{bad.message};
    if (bad.error == ErrorKind::shape && !inputs.empty()) parts.push_back(inputs[0].shape().str());
    const Function& f = bad.f ? bad.f : row.f;
    EXPECT_EQ(refused(op, bad.error, parts, [&] { (void)call(f, inputs); }), "")
        << "bad case " << i;
  }
}

}  // namespace fovea::cases
