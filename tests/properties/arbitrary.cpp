#include "tests/properties/arbitrary.h"

#include <rapidcheck.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "tests/op_cases/layouts.h"
#include "tests/op_cases/op_case.h"

namespace fovea::properties {
namespace {

std::vector<double> any_values(const Numbers& n, bool whole, size_t count) {
  std::mt19937_64 bits(static_cast<uint64_t>(draw(0, 1 << 30)));
  const double unit = whole ? 1 : 0.5;
  std::uniform_real_distribution<double> real(n.low, n.high);
  std::uniform_int_distribution<int64_t> units(static_cast<int64_t>(std::ceil(n.low / unit)),
                                               static_cast<int64_t>(std::ceil(n.high / unit)) - 1);
  const bool rounded = whole || chance(4);
  std::vector<double> v(count);
  for (double& x : v) {
    x = rounded ? unit * static_cast<double>(units(bits)) : real(bits);
    if (!n.specials.empty() && bits() % 6 == 0) x = n.specials[bits() % n.specials.size()];
  }
  return v;
}

Tensor in_any_layout(const Tensor& plain) {
  const auto layout = static_cast<cases::Layout>(draw(0, 7));
  return cases::laid_out(plain, layout).value_or(plain);
}

}  // namespace

// From the first case on: RapidCheck would start small, and small here means empty.
int64_t draw(int64_t low, int64_t high) {
  return *rc::gen::resize(rc::kNominalSize, rc::gen::inRange<int64_t>(low, high + 1));
}

void assume(bool holds) { RC_PRE(holds); }

Shape any_shape(int64_t min_rank, int64_t max_rank) {
  Shape s;
  const int64_t rank = draw(min_rank, max_rank);
  for (int64_t d = 0; d < rank; ++d) s.push_back(chance(16) ? 0 : draw(1, 4));
  if (rank <= 2 && chance(2)) {
    for (int64_t& n : s) n = draw(1, rank == 1 ? 40 : 20);
  }
  return s;
}

Shape without_zeros(Shape s) {
  for (int64_t& n : s) n = std::max<int64_t>(n, 1);
  return s;
}

Shape broadcastable(const Shape& s) {
  Shape out = s;
  for (int64_t& n : out) {
    if (chance(3)) n = 1;
  }
  for (int64_t drop = draw(0, out.rank()); drop > 0 && chance(2); --drop) out.erase(0);
  return out;
}

int64_t any_axis(int rank) {
  const int64_t limit = std::max(rank, 1);
  return draw(-limit, limit - 1);
}

std::vector<int64_t> any_axes(int rank) {
  std::vector<int64_t> axes;
  for (int d = rank - 1; d >= 0; --d) {
    if (chance(2)) axes.push_back(chance(2) ? d : d - rank);
  }
  return axes;
}

DType any_floating() { return chance(3) ? f32 : f64; }
DType any_number() { return chance(6) ? i64 : any_floating(); }
DType any_dtype() { return chance(3) ? static_cast<DType>(draw(0, 3)) : any_floating(); }

Tensor any_tensor(const Shape& shape, const Numbers& numbers, DType dtype) {
  const bool floating = is_floating(dtype);
  cases::InputSpec spec = cases::floats(shape).no_grad();
  if (!floating) spec.dtype = dtype;
  spec.holding(any_values(numbers, !floating, static_cast<size_t>(shape.numel())));
  Tensor x = in_any_layout(cases::make_inputs({spec}, floating ? dtype : f64, 0)[0]);
  if (floating) x.requires_grad_();
  return x;
}

Tensor anything(int64_t min_rank) {
  const DType t = any_dtype();
  return any_tensor(any_shape(min_rank), t == boolean ? Numbers{0, 2} : Numbers{}, t);
}

Tensor any_integers(const Shape& shape, int64_t low, int64_t end) {
  return any_tensor(shape, {static_cast<double>(low), static_cast<double>(end)}, i64);
}

Tensor laid_out_again(const Tensor& x) {
  const Tensor plain = x.detach().clone();
  const Tensor odd = in_any_layout(plain);
  // An expanded layout shows other elements.
  return cases::compare(cases::to_naive(odd), cases::to_naive(x), 0).empty() ? odd : plain;
}

void fail(const std::string& why) {
  RC_FAIL(why);
  std::abort();  // RC_FAIL throws; the compiler cannot know
}

void require_equal(const NaiveTensor& got, const NaiveTensor& want, const std::string& what,
                   bool single) {
  NaiveTensor a = got, b = want;
  if (a.shape == b.shape) {
    // What cancels leaves the rounding of what it was made of: errors count against 1 at least.
    for (NaiveTensor* n : {&a, &b}) {
      n->shape = {n->numel() + 1};
      n->data.push_back(1);
    }
  }
  const std::string complaint = cases::compare(a, b, single ? 1e-5 : 1e-10, single ? 1 : 0.1);
  if (!complaint.empty()) fail(what + ": " + complaint);
}

void require_equal(const Tensor& got, const NaiveTensor& want, const std::string& what,
                   bool single) {
  require_equal(cases::to_naive(got), want, what, single);
}

NaiveTensor summed_to(const NaiveTensor& g, const Shape& shape) {
  NaiveTensor out = cases::filled(shape, 0);
  cases::each_index(g.shape, [&](const Shape& i) { out.at(i) += g.at(i); });
  return out;
}

}  // namespace fovea::properties
