#include "tests/op_cases/refused.h"

#include <fmt/format.h>

#include "fovea/core/error.h"

namespace fovea::cases {
namespace {

ErrorKind kind_of(const Error& e) {
  if (dynamic_cast<const ShapeError*>(&e)) return ErrorKind::shape;
  if (dynamic_cast<const DTypeError*>(&e)) return ErrorKind::dtype;
  if (dynamic_cast<const IndexError*>(&e)) return ErrorKind::index;
  if (dynamic_cast<const GraphError*>(&e)) return ErrorKind::graph;
  return ErrorKind::value;
}

}  // namespace

const char* name(ErrorKind k) {
  constexpr const char* kNames[] = {"ShapeError", "DTypeError", "IndexError", "GraphError",
                                    "ValueError"};
  return kNames[static_cast<int>(k)];
}

std::string complaint(const std::string& op, const std::vector<std::string>& parts,
                      const std::string& message) {
  if (message.rfind(op + ": ", 0) != 0) {
    return fmt::format("does not begin with \"{}: \": {}", op, message);
  }
  for (const std::string& part : parts) {
    if (message.find(part) == std::string::npos) {
      return fmt::format("does not say \"{}\": {}", part, message);
    }
  }
  const size_t remedy = message.rfind("; ");
  if (remedy == std::string::npos || remedy + 2 == message.size()) {
    return fmt::format("does not say what to do: {}", message);
  }
  return "";
}

std::string refused(const std::string& op, ErrorKind kind, const std::vector<std::string>& parts,
                    const std::function<void()>& f) {
  try {
    f();
  } catch (const Error& e) {
    if (kind_of(e) != kind) {
      return fmt::format("is a {}, not a {}: {}", name(kind_of(e)), name(kind), e.what());
    }
    return complaint(op, parts, e.what());
  }
  return fmt::format("{} raised no {}", op, name(kind));
}

}  // namespace fovea::cases
