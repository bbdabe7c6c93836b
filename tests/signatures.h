// What ops/ops.h declares, read from the header itself, so that tests over every operation notice a
// new one.
#pragma once

#include <string>
#include <vector>

namespace fovea {

struct Parameter {
  std::string type, name;
  bool optional = false;  ///< has a default
};
struct Signature {
  std::string name;
  std::vector<Parameter> parameters;
};
/// One entry an overload, in the order of the header.
const std::vector<Signature>& declared_operations();

/// A source file without what follows "//".
std::string without_comments(const std::string& path);

}  // namespace fovea
