// What happens to shapes: one line an operation.
//
//     TraceShapes scope({.sizes = {{"B", 32}, {"D", 64}}});
//     y = x * scale + bias;
//
//     mul    a [B=32, D=64], b [] -> [B=32, D=64]   b is a single number
//     add    a [B=32, D=64], b [D=64] -> [B=32, D=64]   b has no axis -2: repeated 32 times
#pragma once

#include <cstdint>
#include <iosfwd>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace fovea {

class Shape;
class Tensor;

namespace detail {
class ShapeTrace;
/// The innermost scope of this thread, or null.
inline constinit thread_local ShapeTrace* shape_trace = nullptr;
void trace_broadcast(const char* op, const Shape& to);

/// Marks the operations of a backward pass while it lives.
class TraceBackward {
 public:
  TraceBackward();
  ~TraceBackward();
  TraceBackward(const TraceBackward&) = delete;
  TraceBackward& operator=(const TraceBackward&) = delete;

 private:
  ShapeTrace* trace_;
};
}  // namespace detail

/// While it lives, prints a line for every operation of this thread: its name, the shapes of its
/// inputs and of the result, and, where an input was broadcast, along which axes and why. An
/// operation that is composed of others (huber_loss) shows as its parts.
class TraceShapes {
 public:
  struct Options {
    std::ostream* out = nullptr;                              ///< std::cout when null
    std::vector<std::pair<std::string, int64_t>> sizes = {};  ///< {"B", 32}: 32 prints as B=32
    bool backward = false;                                    ///< also what backward() computes
  };
  TraceShapes() : TraceShapes(Options{}) {}
  explicit TraceShapes(Options options);
  ~TraceShapes();
  TraceShapes(const TraceShapes&) = delete;
  TraceShapes& operator=(const TraceShapes&) = delete;

  /// Calls the tensor by this name where it is an input. Returns it.
  const Tensor& name(const std::string& name, const Tensor& t);

 private:
  std::unique_ptr<detail::ShapeTrace> trace_;
};

}  // namespace fovea
