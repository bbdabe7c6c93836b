// Ctrl-C asks a program to finish its step, save and leave; a second Ctrl-C ends it at once.
#pragma once

namespace fovea::examples {

/// From here on SIGINT and SIGTERM only set a flag, the first time.
void catch_interrupts();
/// Whether one came.
bool interrupted();

}  // namespace fovea::examples
