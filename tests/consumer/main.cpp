// A program outside the tree: it sees only what is installed.
#include <fovea/fovea.h>

#include <iostream>
#include <vector>

int main() {
  using namespace fovea;

  Tensor x = tensor({1.0, 2.0, 3.0}).requires_grad_(true);
  sum(x * x).backward();

  const std::vector<double> gradient = x.grad().to_vector<double>();
  const bool right = gradient == std::vector<double>{2.0, 4.0, 6.0};  // d/dx sum(x^2) = 2x
  std::cout << "fovea " FOVEA_VERSION ": the gradient of sum(x * x) is";
  for (double g : gradient) std::cout << ' ' << g;
  std::cout << (right ? "\n" : ", but 2 4 6 is right\n");
  return right ? 0 : 1;
}
