#include "fovea/nn/recurrent/cell.h"

#include <fmt/format.h>

#include "fovea/core/error.h"
#include "fovea/nn/detail/widths.h"
#include "fovea/nn/recurrent/detail/weights.h"

namespace fovea {

RecurrentCell::RecurrentCell(const char* name, int64_t gates, const RecurrentCellOptions& o)
    : name_(name) {
  detail::check_widths(name, {{"in", o.in}, {"hidden", o.hidden}});
  static_cast<RecurrentWeights&>(*this) =
      detail::recurrent_weights(gates, o.in, o.hidden, o.bias, o.dtype);
}

void RecurrentCell::visit(Visitor& v) { detail::visit_weights(v, *this); }

RecurrentState RecurrentCell::start(const Tensor& x, const RecurrentState& s, bool has_cell) const {
  const auto shape = [](const Tensor& t) { return t.defined() ? t.shape().str() : "undefined"; };
  const auto fits = [&](const Tensor& t) {
    return !t.defined() || (t.dim() == 2 && t.size(0) == x.size(0) && t.size(1) == hidden());
  };
  if (x.dim() != 2 || x.size(1) != in() || !fits(s.h) || !fits(s.c)) {
    throw ShapeError(fmt::format("{}: x is {}, h is {}{}; need (B, {}) and (B, {})", name_,
                                 x.shape().str(), shape(s.h),
                                 has_cell ? ", c is " + shape(s.c) : "", in(), hidden()));
  }
  detail::check_dtypes(name_, "x", x, *this);
  const auto one = [&](const char* arg, const Tensor& given) {
    if (!given.defined()) return zeros({x.size(0), hidden()}, x.dtype());
    detail::check_dtypes(name_, arg, given, *this);
    return given;
  };
  return {one("h", s.h), has_cell ? one("c", s.c) : Tensor()};
}

}  // namespace fovea
