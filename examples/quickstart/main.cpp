// The program of the README: which points lie inside a circle?
#include <fovea/fovea.h>

#include <cstdio>

using namespace fovea;

int main() {
  manual_seed(1);
  Tensor x = randn({512, 2});                        // points (512, 2)
  Tensor inside = to(x.square().sum(1) < 1.4, i64);  // classes (512)
  Sequential net(Linear(2, 32), Tanh(), Linear(32, 2));
  Adam adam(net, {.lr = 0.02});
  for (int step = 1; step <= 200; ++step) {
    adam.zero_grad();
    Tensor loss = cross_entropy(net(x), inside);
    loss.backward();
    adam.step();
    if (step % 50 == 0) std::printf("step %d  loss %.4f\n", step, loss.item());
  }
}
