// A program outside the tree: it sees only what is installed.
#include <fovea/fovea.h>

#include <cstdint>
#include <iostream>

int main() {
  using namespace fovea;

  Tensor x = tensor({1.0, 2.0, 3.0}).requires_grad_(true);
  sum(x * x).backward();

  const double expected[] = {2.0, 4.0, 6.0};  // d/dx sum(x^2) = 2x
  bool right = x.grad().numel() == 3;
  for (std::int64_t i = 0; right && i < 3; ++i) {
    const double value = x.grad()[i].item<double>();
    std::cout << value << (i < 2 ? ", " : "\n");
    right = value == expected[i];
  }
  std::cout << "fovea " FOVEA_VERSION << (right ? ": gradient is right\n" : ": gradient is WRONG\n");
  return right ? 0 : 1;
}
