// What an error must be and say: of one kind, "op: rule broken: actual sizes; what to do". Needs no
// test library.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tests/op_cases/op_case.h"

namespace fovea::cases {

const char* name(ErrorKind kind);

/// What is wrong with a message of the operation `op`, "" when nothing is: it begins with the
/// operation's own name, holds all the parts, and ends with what to do.
std::string complaint(const std::string& op, const std::vector<std::string>& parts,
                      const std::string& message);

/// Calls f, which must raise an error of this kind with such a message: what is wrong, or "".
std::string refused(const std::string& op, ErrorKind kind, const std::vector<std::string>& parts,
                    const std::function<void()>& f);

}  // namespace fovea::cases
