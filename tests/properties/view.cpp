// Views that show the same elements under another shape, and copies.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "fovea/ops/ops.h"
#include "tests/op_cases/op_case.h"
#include "tests/properties/models.h"

namespace fovea::properties {
namespace {

// Another shape of n elements, of rank 0 to 5.
Shape any_shape_of(int64_t n) {
  if (n == 0) {
    Shape s = without_zeros(any_shape(0, 3));
    s.insert(static_cast<int>(draw(0, s.rank())), 0);
    return s;
  }
  Shape s;
  while (n > 1) {
    int64_t d = draw(2, n);
    while (n % d != 0) --d;
    if (d == 1 || s.rank() == 3) d = n;
    s.push_back(d);
    n /= d;
  }
  while (s.rank() < 5 && chance(3)) s.insert(static_cast<int>(draw(0, s.rank())), 1);
  return s;
}

// The shape as one may ask for it: now and then with a -1.
Shape with_open_size(Shape s, int64_t n) {
  if (n > 0 && !s.empty() && chance(3)) s[static_cast<int>(draw(0, s.rank() - 1))] = -1;
  return s;
}

// Whatever the strides, axes may be cut into two and axes of size 1 come in.
Trial view_trial() {
  Tensor x = anything();
  Shape shape = x.shape();
  if (chance(2)) {
    x = x.detach().clone();
    if (x.is_floating()) x.requires_grad_();
    shape = any_shape_of(x.numel());
  } else {
    for (int d = shape.rank() - 1; d >= 0; --d) {
      const int64_t outer = draw(1, 4);
      if (shape[d] == 0 || shape[d] % outer != 0) continue;
      shape[d] /= outer;
      shape.insert(d, outer);
    }
  }
  const Shape asked = with_open_size(shape, x.numel());
  return reshaped([=](const Tensor& in) { return view(in, asked); }, x, shape)
      .lies(Storage::shared);
}

Trial reshape_trial() {
  const Tensor x = anything();
  const Shape shape = any_shape_of(x.numel()), asked = with_open_size(shape, x.numel());
  return reshaped([=](const Tensor& in) { return reshape(in, asked); }, x, shape)
      .lies(Storage::any);
}

Trial flatten_trial() {
  const Tensor x = anything();
  if (chance(4) || x.dim() == 0) {
    return reshaped([](const Tensor& in) { return flatten(in); }, x, {x.numel()})
        .lies(Storage::any);
  }
  const int64_t first = draw(0, x.dim() - 1), last = draw(first, x.dim() - 1);
  const int64_t start = chance(2) ? first : first - x.dim(),
                end = chance(2) ? last : last - x.dim();
  Shape shape = x.shape();
  for (int64_t d = last; d > first; --d) {
    shape[static_cast<int>(d - 1)] *= shape[static_cast<int>(d)];
    shape.erase(static_cast<int>(d));
  }
  return reshaped([=](const Tensor& in) { return flatten(in, start, end); }, x, shape)
      .lies(Storage::any);
}

Trial transpose_trial() {
  const Tensor x = anything();
  const int64_t a = any_axis(x.dim()), b = any_axis(x.dim());
  const auto turned = [a = from_front(a, x.dim()), b = from_front(b, x.dim())](Shape s) {
    if (!s.empty()) std::swap(s[a], s[b]);
    return s;
  };
  return shows([=](const Tensor& in) { return transpose(in, a, b); }, x, turned(x.shape()), turned)
      .lies(Storage::shared);
}

Trial permute_trial() {
  const Tensor x = anything();
  std::vector<int64_t> left(static_cast<size_t>(x.dim())), order;
  std::iota(left.begin(), left.end(), 0);
  while (!left.empty()) {
    const auto at = left.begin() + draw(0, static_cast<int64_t>(left.size()) - 1);
    order.push_back(chance(2) ? *at : *at - x.dim());
    left.erase(at);
  }
  return rearranged(
             [=](const Tensors& in) { return Tensors{permute(in[0], Axes(order))}; }, {x},
             [&](const NaiveTensors& n) { return NaiveTensors{cases::permute(n[0], order)}; })
      .lies(Storage::shared);
}

Trial squeeze_trial() {
  const Tensor x = anything();
  if (chance(2)) {
    Shape shape;
    for (int64_t n : x.shape()) {
      if (n != 1) shape.push_back(n);
    }
    return reshaped([](const Tensor& in) { return squeeze(in); }, x, shape).lies(Storage::shared);
  }
  const int64_t axis = any_axis(x.dim());
  const int d = from_front(axis, x.dim());
  Shape shape = x.shape();
  if (!shape.empty() && shape[d] == 1) shape.erase(d);
  return reshaped([=](const Tensor& in) { return squeeze(in, axis); }, x, shape)
      .lies(Storage::shared);
}

Trial unsqueeze_trial() {
  const Tensor x = anything();
  const int64_t axis = any_axis(x.dim() + 1);
  Shape shape = x.shape();
  shape.insert(from_front(axis, x.dim() + 1), 1);
  return reshaped([=](const Tensor& in) { return unsqueeze(in, axis); }, x, shape)
      .lies(Storage::shared);
}

Trial expand_trial(bool keeps) {
  const Tensor x = anything();
  Shape shape = x.shape(), asked;
  for (int64_t& n : shape) {
    if (n == 1) n = chance(8) ? 0 : draw(1, 3);
  }
  asked = shape;
  for (int d = 0; d < asked.rank(); ++d) {
    if (keeps && shape[d] == x.shape()[d] && chance(3)) asked[d] = -1;
  }
  for (int64_t more = draw(0, 2); more > 0; --more) {
    shape.insert(0, draw(1, 2));
    asked.insert(0, shape[0]);
  }
  return shows(
             [=](const Tensor& in) { return keeps ? expand(in, asked) : broadcast_to(in, asked); },
             x, shape, [](const Shape& i) { return i; })
      .lies(Storage::shared);
}

Trial contiguous_trial() {
  const Tensor x = anything();
  return reshaped(
             [](const Tensor& in) {
               Tensor y = contiguous(in);
               if (!y.is_contiguous()) fail("contiguous: the result is not");
               return y;
             },
             x, x.shape())
      .lies(x.is_contiguous() ? Storage::shared : Storage::own);
}

Trial clone_trial() {
  const Tensor x = anything();
  return reshaped([](const Tensor& in) { return clone(in); }, x, x.shape());
}

Trial to_trial() {
  const Tensor x = anything();
  const DType t = any_dtype();
  return elementwise([t](const Tensors& in) { return to(in[0], t); }, {x},
                     [t](const Values1d& v) {
                       return t == boolean ? double(v[0] != 0) : t == i64 ? std::trunc(v[0]) : v[0];
                     },
                     {[](const Values1d&) { return 1.0; }})
      .gives({t})
      .lies(t == x.dtype() ? Storage::shared : Storage::own);
}

}  // namespace

Properties view_properties() {
  return {{"view", view_trial},
          {"reshape", reshape_trial},
          {"flatten", flatten_trial},
          {"transpose", transpose_trial},
          {"permute", permute_trial},
          {"squeeze", squeeze_trial},
          {"unsqueeze", unsqueeze_trial},
          {"expand", [] { return expand_trial(true); }},
          {"broadcast_to", [] { return expand_trial(false); }},
          {"contiguous", contiguous_trial},
          {"clone", clone_trial},
          {"to", to_trial}};
}

}  // namespace fovea::properties
