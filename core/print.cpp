#include "fovea/core/print.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ostream>

#include "fovea/core/node.h"

namespace fovea {
namespace {

// How all numbers of one tensor are written, so that columns align: whole floats as "1.", others
// with fixed digits, and in scientific notation when the magnitudes lie too far apart.
class Style {
 public:
  Style(const std::vector<double>& shown, DType dtype, const PrintOptions& o)
      : dtype_(dtype), o_(o) {
    if (is_floating(dtype)) choose(shown);
    for (double v : shown) width_ = std::max(width_, write(v).size());
  }

  std::string operator()(double v) const { return fmt::format("{:>{}}", write(v), width_); }
  size_t width() const { return width_; }

 private:
  void choose(const std::vector<double>& shown) {
    double low = INFINITY;
    double high = 0;
    for (double v : shown) {
      if (!std::isfinite(v) || v == 0) continue;
      whole_ = whole_ && v == std::ceil(v);
      low = std::min(low, std::fabs(v));
      high = std::max(high, std::fabs(v));
    }
    if (high == 0) return;
    scientific_ = high / low > 1000 || high > 1e8 || low < 1e-4;
  }

  std::string write(double v) const {
    if (dtype_ == DType::boolean) return v != 0 ? "true" : "false";
    if (dtype_ == DType::i64) return fmt::format("{}", static_cast<int64_t>(v));
    if (std::isnan(v)) return "nan";
    if (std::isinf(v)) return v > 0 ? "inf" : "-inf";
    if (scientific_) return fmt::format("{:.{}e}", v, o_.precision);
    if (whole_) return fmt::format("{:.0f}.", v);
    return fmt::format("{:.{}f}", v, o_.precision);
  }

  DType dtype_;
  PrintOptions o_;
  bool whole_ = true;
  bool scientific_ = false;
  size_t width_ = 0;
};

class Printer {
 public:
  Printer(const Tensor& t, const PrintOptions& o)
      : t_(t), o_(o), short_(t.numel() > o.threshold), style_(shown(), t.dtype(), o) {}

  std::string body() const { return axis(0, t_.raw(), 7); }  // 7: behind "tensor("

 private:
  double load(const char* p) const {
    return visit(t_.dtype(), [p](auto zero) {
      return static_cast<double>(*reinterpret_cast<const decltype(zero)*>(p));
    });
  }

  bool cut(int d) const { return short_ && t_.shape()[d] > 2 * o_.edge_items; }

  // Calls f with the index of each entry of axis d that is shown; -1 stands for the gap.
  template <class F>
  void entries(int d, const F& f) const {
    const int64_t n = t_.shape()[d];
    for (int64_t i = 0; i < n; ++i) {
      if (cut(d) && i == o_.edge_items) {
        f(-1);
        i = n - o_.edge_items;
      }
      f(i);
    }
  }

  std::vector<double> shown() const {
    std::vector<double> out;
    collect(0, t_.raw(), out);
    return out;
  }

  void collect(int d, const char* p, std::vector<double>& out) const {
    if (t_.numel() == 0) return;
    if (d == t_.dim()) {
      out.push_back(load(p));
      return;
    }
    entries(d, [&](int64_t i) {
      if (i >= 0) collect(d + 1, p + i * step(d), out);
    });
  }

  int64_t step(int d) const { return t_.strides()[d] * item_size(t_.dtype()); }

  std::string axis(int d, const char* p, int indent) const {
    if (d == t_.dim()) return style_(load(p));
    const bool last = d == t_.dim() - 1;
    std::string out = "[";
    int64_t column = indent + 1;
    bool first = true;
    entries(d, [&](int64_t i) {
      std::string item = i < 0 ? "..." : axis(d + 1, p + i * step(d), indent + 1);
      if (!first) {
        if (!last) {
          out += "," + std::string(static_cast<size_t>(t_.dim() - 1 - d), '\n') +
                 std::string(static_cast<size_t>(indent + 1), ' ');
        } else if (column + static_cast<int64_t>(item.size()) + 3 > o_.line_width) {
          out += ",\n" + std::string(static_cast<size_t>(indent + 1), ' ');
          column = indent + 1;
        } else {
          out += ", ";
          column += 2;
        }
      }
      first = false;
      column += static_cast<int64_t>(item.size());
      out += item;
    });
    return out + "]";
  }

  const Tensor& t_;
  PrintOptions o_;
  bool short_;
  Style style_;
};

}  // namespace

std::string to_string(const Tensor& t, const PrintOptions& o) {
  if (!t.defined()) return "tensor(undefined)";
  std::string out = "tensor(" + (t.numel() == 0 ? std::string("[]") : Printer(t, o).body());
  if (t.numel() == 0 && t.dim() != 1) out += ", size=" + t.shape().str();
  const bool obvious = t.dtype() == f32 || (t.numel() > 0 && !t.is_floating());
  if (!obvious) out += fmt::format(", dtype={}", name(t.dtype()));
  if (t.requires_grad()) {
    out += t.is_leaf() ? ", requires_grad=true" : fmt::format(", grad_fn=<{}>", t.node()->op);
  }
  return out + ")";
}

std::string Tensor::str() const { return to_string(*this); }

std::ostream& operator<<(std::ostream& out, const Tensor& t) { return out << to_string(t); }

}  // namespace fovea
