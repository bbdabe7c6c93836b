#include "examples/seq2seq/compare.h"
namespace fovea::seq2seq {
int compare(const Arguments&) { return 1; }
}  // namespace fovea::seq2seq
