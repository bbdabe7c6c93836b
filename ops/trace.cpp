// How the lines of TraceShapes are made. record() and broadcast_shapes() tell what happens.
#include "fovea/core/trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <iostream>
#include <string_view>

#include "fovea/core/node.h"

namespace fovea {
namespace detail {

class ShapeTrace {
 public:
  explicit ShapeTrace(TraceShapes::Options options)
      : o_(std::move(options)), outer_(std::exchange(shape_trace, this)) {}
  ~ShapeTrace() { shape_trace = outer_; }
  ShapeTrace(const ShapeTrace&) = delete;
  ShapeTrace& operator=(const ShapeTrace&) = delete;

  void name(const std::string& name, const Tensor& t) { names_.emplace_back(t, name); }
  void broadcast(const char* op, const Shape& to) { broadcast_ = to, broadcast_op_ = op; }
  void print(const char* op, const Tensor& y, const Inputs& in, const Saves& saves);

  int backward = 0;  // depth of backward passes

 private:
  struct Operand {
    std::string label;
    const Tensor* tensor;
  };
  std::vector<Operand> operands(const Inputs& in, const Saves& saves) const;
  std::string sized(const Shape& s) const;
  std::string why(const std::vector<Operand>& list, const Tensor& y) const;

  TraceShapes::Options o_;
  ShapeTrace* outer_;
  std::vector<std::pair<Tensor, std::string>> names_;
  Shape broadcast_;  // what the operands of the coming line were broadcast to
  std::string_view broadcast_op_;
};

std::string ShapeTrace::sized(const Shape& s) const {
  std::string text = "[";
  for (int d = 0; d < s.rank(); ++d) {
    const auto known = std::find_if(o_.sizes.begin(), o_.sizes.end(),
                                    [&](const auto& entry) { return entry.second == s[d]; });
    if (d > 0) text += ", ";
    text += known == o_.sizes.end() ? fmt::format("{}", s[d])
                                    : fmt::format("{}={}", known->first, s[d]);
  }
  return text + "]";
}

// What goes in: the inputs that may want a gradient, and those that cannot (an index, a condition).
// By the caller's name, else the operation's own, else a letter.
std::vector<ShapeTrace::Operand> ShapeTrace::operands(const Inputs& in, const Saves& saves) const {
  std::vector<Operand> list;
  const auto listed = [&](const Tensor& t) {
    return std::find_if(list.begin(), list.end(),
                        [&](const Operand& x) { return x.tensor->same_as(t); });
  };
  for (size_t i = 0; i < in.size(); ++i) {
    if (!in[i].defined()) continue;  // a bias that is not there
    list.push_back(
        {in.size() == 1 ? "x" : std::string(1, static_cast<char>('a' + i % 26)), &in[i]});
  }
  for (size_t k = 0; k < saves.size(); ++k) {
    if (saves[k].kind != Save::Kind::input) continue;
    const auto at = listed(*saves[k].tensor);
    if (at == list.end()) {
      list.push_back({saves[k].name, saves[k].tensor});
    } else {
      at->label = saves[k].name;
    }
  }
  for (const auto& [t, name] : names_) {
    const auto at = listed(t);
    if (at != list.end()) at->label = name;
  }
  return list;
}

// Matrix products broadcast their leading axes only: then `broadcast_` is a part of y's shape.
std::string ShapeTrace::why(const std::vector<Operand>& list, const Tensor& y) const {
  const int behind = y.dim() - broadcast_.rank();
  std::string text;
  for (const auto& [label, t] : list) {
    const int rank = t->dim() - behind;
    if (rank < 0) continue;
    if (t->dim() == 0) {
      text += fmt::format("; {} is a single number", label);
      continue;
    }
    for (int i = 1; i <= broadcast_.rank(); ++i) {
      const int64_t size = broadcast_[broadcast_.rank() - i];
      const bool lacks = i > rank;
      if (!lacks && t->shape()[rank - i] == size) continue;
      text += fmt::format("; {} has {} axis {}: repeated {} times", label,
                          lacks ? "no" : "size 1 on", -(i + behind), size);
    }
  }
  return text.empty() ? "" : "   " + text.substr(2);
}

bool begins_with(const Shape& s, const Shape& start) {
  return s.rank() >= start.rank() && std::equal(start.begin(), start.end(), s.begin());
}

void ShapeTrace::print(const char* op, const Tensor& y, const Inputs& in, const Saves& saves) {
  // An operation that failed after it broadcast has left its shape behind.
  const bool broadcast =
      std::exchange(broadcast_op_, {}) == op && begins_with(y.shape(), broadcast_);
  if (backward > 0 && !o_.backward) return;
  const std::vector<Operand> list = operands(in, saves);
  std::string inputs;
  for (const auto& [label, t] : list) {
    inputs += fmt::format("{}{} {}", inputs.empty() ? "" : ", ", label, sized(t->shape()));
  }
  std::ostream& out = o_.out ? *o_.out : std::cout;
  out << fmt::format("{}{:<16} {} -> {}{}\n", backward > 0 ? "backward: " : "", op, inputs,
                     sized(y.shape()), broadcast ? why(list, y) : "");
}

void trace_broadcast(const char* op, const Shape& to) { shape_trace->broadcast(op, to); }

void trace_shapes(const char* op, const Tensor& y, const Inputs& in, const Saves& saves) {
  shape_trace->print(op, y, in, saves);
}

TraceBackward::TraceBackward() : trace_(shape_trace) {
  if (trace_) ++trace_->backward;
}
TraceBackward::~TraceBackward() {
  if (trace_) --trace_->backward;
}

}  // namespace detail

TraceShapes::TraceShapes(Options options)
    : trace_(std::make_unique<detail::ShapeTrace>(std::move(options))) {}
TraceShapes::~TraceShapes() = default;

const Tensor& TraceShapes::name(const std::string& name, const Tensor& t) {
  trace_->name(name, t);
  return t;
}

}  // namespace fovea
