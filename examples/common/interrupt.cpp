#include "examples/common/interrupt.h"

#include <csignal>

namespace fovea::examples {
namespace {

volatile std::sig_atomic_t flag = 0;

extern "C" void on_signal(int) { flag = 1; }

}  // namespace

void catch_interrupts() {
  struct sigaction action = {};
  action.sa_handler = on_signal;
  // Reset to the default after the first; restart a write it fell into.
  action.sa_flags = static_cast<int>(SA_RESETHAND) | SA_RESTART;
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

bool interrupted() { return flag != 0; }

}  // namespace fovea::examples
