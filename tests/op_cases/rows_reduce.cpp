// Sums, moments, extremes and scans.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "fovea/ops/ops.h"
#include "tests/op_cases/op_case.h"

namespace fovea::cases {
namespace {

using Line = double (*)(const Values1d&);

struct Reduction1 {
  const char* name;
  Tensor (*f)(const Tensor&, const Axes&, bool);
  Line naive;
  bool ties_matter = false;
  bool needs_elements = false;  // nothing sensible over an axis of size 0
  bool needs_two = false;       // nor over one of size 1
};

OpCase reduction(const Reduction1& r, const char* label, const Shape& shape,
                 std::vector<int64_t> axes, bool keep) {
  OpCase row;
  row.name = r.name;
  row.label = label;
  row.f = [f = r.f, axes, keep](const Tensors& x) { return f(x[0], Axes(axes), keep); };
  row.inputs = {floats(shape)};
  row.inputs[0].distinct = r.ties_matter;
  row.one = all_one(row.inputs);
  if (r.needs_two) {
    const int64_t axis = axes.empty() ? 0 : axes[0];
    row.one[0][static_cast<int>(axis < 0 ? axis + shape.rank() : axis)] = 2;
  }
  row.naive = [naive = r.naive, axes, keep](const NaiveTensors& x) {
    return fold(x[0], axes, keep, naive);
  };
  return row;
}

void add_reduction(std::vector<OpCase>& rows, const Reduction1& r) {
  OpCase all = reduction(r, "", {3, 5}, {}, false);
  all.big = {{300, 257}};
  if (!r.needs_elements) all.zero = {{0, 5}};
  rows.push_back(std::move(all));

  OpCase last = reduction(r, "last", {2, 3, 4}, {-1}, false);
  last.zero = {{0, 3, 4}};
  last.big = {{40, 31, 65}};
  rows.push_back(std::move(last));

  OpCase first = reduction(r, "first_kept", {3, 4}, {0}, true);
  first.zero = {{3, 0}};
  first.big = {{700, 130}};
  first.bad = {{{floats({3, 4})},
                ErrorKind::index,
                r.name,
                [f = r.f](const Tensors& x) { return f(x[0], 2, false); }},
               {{floats({3, 4})}, ErrorKind::index, r.name, [f = r.f](const Tensors& x) {
                  return f(x[0], -3, false);
                }}};
  rows.push_back(std::move(first));

  OpCase middle = reduction(r, "middle", {2, 4, 3}, {1}, false);
  middle.zero = {{0, 4, 3}};
  middle.big = {{20, 130, 33}};
  rows.push_back(std::move(middle));

  OpCase outer = reduction(r, "first_and_last", {2, 3, 4}, {0, 2}, false);
  outer.zero = {{2, 0, 4}};
  outer.big = {{40, 31, 65}};
  rows.push_back(std::move(outer));

  OpCase kept = reduction(r, "last_two_kept", {2, 1, 3, 4}, {-1, -2}, true);
  kept.big = {{7, 1, 90, 129}};
  rows.push_back(std::move(kept));
}

double total(const Values1d& v) { return std::accumulate(v.begin(), v.end(), 0.0); }
double average(const Values1d& v) { return total(v) / static_cast<double>(v.size()); }
double spread(const Values1d& v, double correction) {
  const double m = average(v);
  double s = 0;
  for (double x : v) s += (x - m) * (x - m);
  return s / (static_cast<double>(v.size()) - correction);
}
double log_total(const Values1d& v) {
  const double m = *std::max_element(v.begin(), v.end());
  double s = 0;
  for (double x : v) s += std::exp(x - m);
  return m + std::log(s);
}
double first_max(const Values1d& v) {
  return static_cast<double>(std::max_element(v.begin(), v.end()) - v.begin());
}
double first_min(const Values1d& v) {
  return static_cast<double>(std::min_element(v.begin(), v.end()) - v.begin());
}
double largest(const Values1d& v) { return *std::max_element(v.begin(), v.end()); }
double smallest(const Values1d& v) { return *std::min_element(v.begin(), v.end()); }

// An extreme along one axis: its value carries a gradient, its place does not.
void add_extreme(std::vector<OpCase>& rows, const char* name,
                 ValuesAndIndices (*f)(const Tensor&, int64_t, bool),
                 Tensor (*whole)(const Tensor&), const char* arg_name,
                 Tensor (*arg)(const Tensor&, int64_t, bool), Line value, Line place) {
  for (int64_t axis : {-1, 0}) {
    OpCase values;
    values.name = name;
    values.label = axis == 0 ? "values_first" : "values_last";
    values.f = [f, axis](const Tensors& x) { return f(x[0], axis, axis == 0).values; };
    values.inputs = {floats({3, 4, 2}).no_ties()};
    values.naive = [value, axis](const NaiveTensors& x) {
      return fold(x[0], {axis}, axis == 0, value);
    };
    values.one = {{1, 1, 1}};
    values.zero = {{3, 0, 2}};
    values.big = {{130, 70, 33}};
    values.bad = {{{floats({3})}, ErrorKind::index, name, [f](const Tensors& x) {
                     return f(x[0], 1, false).values;
                   }}};
    OpCase places = values;
    places.label = axis == 0 ? "indices_first" : "indices_last";
    places.inputs = {floats({3, 4, 2}).no_ties().no_grad()};
    places.f = [f, axis](const Tensors& x) { return f(x[0], axis, axis == 0).indices; };
    places.naive = [place, axis](const NaiveTensors& x) {
      return fold(x[0], {axis}, axis == 0, place);
    };
    places.result = i64;
    places.differentiable = false;
    OpCase argument = places;
    argument.name = arg_name;
    argument.label = axis == 0 ? "first" : "last";
    argument.f = [arg, axis](const Tensors& x) { return arg(x[0], axis, axis == 0); };
    argument.bad = {{{floats({3})}, ErrorKind::index, arg_name, [arg](const Tensors& x) {
                       return arg(x[0], 1, false);
                     }}};
    OpCase ties = argument;
    ties.label += "_ties";
    ties.inputs = {integers({6, 5}, 0, 3)};
    ties.one = {{1, 1}};
    ties.zero = ties.big = {};
    rows.push_back(std::move(values));
    rows.push_back(std::move(places));
    rows.push_back(std::move(argument));
    rows.push_back(std::move(ties));
  }
  OpCase all;
  all.name = name;
  all.f = [whole](const Tensors& x) { return whole(x[0]); };
  all.inputs = {floats({3, 5}).no_ties()};
  all.naive = [value](const NaiveTensors& x) { return fold(x[0], {}, false, value); };
  all.one = {{1, 1}};
  all.big = {{300, 257}};
  all.bad = {{{floats({0, 2})}, ErrorKind::shape, ""}};
  rows.push_back(std::move(all));
}

OpCase answer(const char* name, const char* label, bool (*f)(const Tensor&), InputSpec x,
              bool right) {
  OpCase row;
  row.name = name;
  row.label = label;
  row.f = [f](const Tensors& in) { return full({}, f(in[0]), boolean); };
  row.inputs = {std::move(x)};
  row.naive = [right](const NaiveTensors&) { return scalar(right); };
  row.result = boolean;
  row.differentiable = false;
  return row;
}

}  // namespace

std::vector<OpCase> rows_reduce() {
  std::vector<OpCase> rows;
  add_reduction(rows, {"sum", sum, total});
  add_reduction(rows, {"mean", mean, average, false, true});
  add_reduction(rows, {"amax", amax, largest, true, true});
  add_reduction(rows, {"amin", amin, smallest, true, true});
  add_reduction(rows,
                {"var", [](const Tensor& x, const Axes& a, bool k) { return var(x, a, 1, k); },
                 [](const Values1d& v) { return spread(v, 1); }, false, true, true});
  add_reduction(rows,
                {"std", [](const Tensor& x, const Axes& a, bool k) { return std(x, a, 0, k); },
                 [](const Values1d& v) { return std::sqrt(spread(v, 0)); }, false, true});
  add_reduction(rows, {"logsumexp", logsumexp, log_total, false, true});
  add_extreme(rows, "max", max, max, "argmax", argmax, largest, first_max);
  add_extreme(rows, "min", min, min, "argmin", argmin, smallest, first_min);

  OpCase whole = reduction({"sum", sum, total}, "i64", {3, 4}, {0}, false);
  whole.inputs = {integers({3, 4}, -9, 9)};
  whole.result = i64;
  whole.differentiable = false;
  OpCase count = whole;
  count.label = "bool";
  count.inputs = {bools({3, 4})};
  OpCase lone = reduction({"sum", sum, total}, "scalar", {}, {}, false);
  rows.push_back(std::move(whole));
  rows.push_back(std::move(count));
  rows.push_back(std::move(lone));

  // Ties share the gradient, so a value that occurs twice has no derivative: forward only.
  OpCase ties = reduction({"amax", amax, largest}, "i64_ties", {4, 5}, {1}, false);
  ties.inputs = {integers({4, 5}, 0, 3)};
  ties.result = i64;
  ties.differentiable = false;
  rows.push_back(std::move(ties));

  for (OpCase& row : rows) {
    if (row.name == "mean" && row.label.empty()) {
      row.bad.push_back({{integers({3}, 0, 5)}, ErrorKind::dtype, "mean"});
      row.bad.push_back({{bools({3})}, ErrorKind::dtype, "mean"});
    }
  }

  // On the other shapes what is looked for is nowhere, or at the very end.
  const auto everywhere = [&](int64_t value) {
    InputSpec& x = rows.back().inputs[0];
    x.low = static_cast<double>(value), x.high = x.low + 1;
    rows.back().one = {{1, 1}};
    rows.back().big = {{300, 257}};
  };
  rows.push_back(answer("any", "", any, bools({2, 3}).holding({0, 0, 0, 0, 1, 0}), true));
  rows.push_back(answer("any", "none", any, bools({2, 3}).holding({0, 0, 0, 0, 0, 0}), false));
  everywhere(0);
  rows.back().zero = {{0, 3}};
  rows.push_back(answer("any", "empty", any, bools({0, 3}), false));
  rows.push_back(answer("all", "", all, bools({2, 3}).holding({1, 1, 1, 1, 1, 1}), true));
  everywhere(1);
  rows.back().zero = {{0, 3}};
  rows.push_back(answer("all", "not", all, bools({2, 3}).holding({1, 1, 1, 1, 0, 1}), false));
  rows.push_back(answer("all", "empty", all, bools({0, 3}), true));

  for (int64_t axis : {0, 1, -1}) {
    OpCase scan;
    scan.name = "cumsum";
    scan.label = axis == 0 ? "first" : axis == 1 ? "middle" : "last";
    scan.f = [axis](const Tensors& x) { return cumsum(x[0], axis); };
    scan.inputs = {floats({3, 4, 2})};
    scan.naive = [axis](const NaiveTensors& x) {
      return along(x[0], axis, [](const Values1d& v) {
        Values1d y(v.size());
        std::partial_sum(v.begin(), v.end(), y.begin());
        return y;
      });
    };
    scan.one = {{1, 1, 1}};
    scan.zero = {{3, 4, 0}};
    scan.big = {{70, 40, 33}};
    scan.bad = {{{floats({3})}, ErrorKind::index, "cumsum", [](const Tensors& x) {
                   return cumsum(x[0], 1);
                 }}};
    rows.push_back(std::move(scan));
  }
  return rows;
}

}  // namespace fovea::cases
