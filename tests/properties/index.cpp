// Look-ups by index and mask, and writing by index.
#include <algorithm>

#include "fovea/ops/ops.h"
#include "tests/op_cases/op_case.h"
#include "tests/properties/models.h"

namespace fovea::properties {
namespace {

using cases::build;
using cases::each_index;
using cases::to_naive;

// Indices of an axis of n elements: none of them when there are none.
Tensor any_indices(const Shape& shape, int64_t n) {
  return any_integers(shape, 0, std::max<int64_t>(n, 1));
}

// x, an axis of it, and an index of its rank that fits on every other axis.
struct Indexed {
  Tensor x;
  int64_t axis;
  int d;  // the axis, from the front
  Tensor index;

  // Where the entry of the index at i points.
  std::function<Shape(const Shape&)> target() const {
    return [ids = to_naive(index), axis_ = d](const Shape& i) {
      Shape at = i;
      at[axis_] = static_cast<int64_t>(ids.at(i));
      return at;
    };
  }
};
Indexed any_indexed() {
  const Tensor x = any_numbers(any_shape(1));
  const int64_t axis = any_axis(x.dim());
  const int d = from_front(axis, x.dim());
  Shape shape = x.shape();
  for (int64_t& n : shape) {
    if (n > 0 && chance(4)) n = draw(0, n);
  }
  const int64_t n = x.shape()[d];
  shape[d] = n == 0 ? 0 : draw(0, 5);
  return {x, axis, d, any_indices(shape, n)};
}
// A source that holds at least the index's places.
Tensor any_source(const Indexed& c) {
  Shape shape = c.index.shape();
  for (int64_t& n : shape) n += chance(4) ? draw(0, 2) : 0;
  return any_tensor(shape, {}, c.x.dtype());
}

Trial gather_trial() {
  const Indexed c = any_indexed();
  return rearranged([=](const Tensors& in) { return Tensors{gather(in[0], c.axis, in[1])}; },
                    {c.x, c.index},
                    [&](const NaiveTensors& n) {
                      const auto target = c.target();
                      return NaiveTensors{build(
                          c.index.shape(), [&](const Shape& i) { return n[0].at(target(i)); })};
                    });
}

Trial scatter_trial() {
  const Indexed c = any_indexed();
  return rearranged(
      [=](const Tensors& in) { return Tensors{scatter(in[0], c.axis, in[1], in[2])}; },
      {c.x, c.index, any_source(c)},
      [&](const NaiveTensors& n) {
        const auto target = c.target();
        NaiveTensor y = n[0];
        each_index(c.index.shape(), [&](const Shape& i) { y.at(target(i)) = n[2].at(i); });
        return NaiveTensors{y};
      });
}

// y = x, and y[target(i)] += src[i] for every i of `places`; the inputs are x, an index, src.
Trial added(const Function& f, const Tensors& inputs, const Shape& places,
            const std::function<Shape(const Shape&)>& target) {
  const NaiveTensors in = to_naive(inputs);
  NaiveTensor y = in[0];
  each_index(places, [&](const Shape& i) { y.at(target(i)) += in[2].at(i); });
  Trial t{inputs, [f](const Tensors& x) { return Tensors{f(x)}; }};
  t.values = {y};
  t.gradients = [=](const NaiveTensors& w) {
    NaiveTensor back = cases::filled(in[2].shape, 0);
    each_index(places, [&](const Shape& i) { back.at(i) += w[0].at(target(i)); });
    return NaiveTensors{w[0], {}, back};
  };
  return t;
}

Trial scatter_add_trial() {
  const Indexed c = any_indexed();
  return added([=](const Tensors& in) { return scatter_add(in[0], c.axis, in[1], in[2]); },
               {c.x, c.index, any_source(c)}, c.index.shape(), c.target());
}

Trial index_put_add_trial() {
  const Tensor x = any_numbers(any_shape(1));
  Shape shape = x.shape();
  shape[0] = x.size(0) == 0 ? 0 : draw(0, 5);
  const Tensor index = any_indices({shape[0]}, x.size(0));
  return added([](const Tensors& in) { return index_put_add(in[0], in[1], in[2]); },
               {x, index, any_tensor(shape, {}, x.dtype())}, shape,
               [ids = to_naive(index)](const Shape& i) {
                 Shape at = i;
                 at[0] = static_cast<int64_t>(ids.at({i[0]}));
                 return at;
               });
}

Trial index_select_trial() {
  const Tensor x = any_numbers(any_shape(1));
  const int64_t axis = any_axis(x.dim());
  const int d = from_front(axis, x.dim());
  const int64_t n = x.shape()[d];
  const bool number = n > 0 && chance(6);  // an index without an axis keeps x's
  const Tensor index = any_indices(number ? Shape{} : Shape{n == 0 ? 0 : draw(0, 5)}, n);
  const auto ids = index.to_vector<int64_t>();
  Shape out = x.shape();
  out[d] = index.numel();
  return rearranged([=](const Tensors& in) { return Tensors{index_select(in[0], axis, in[1])}; },
                    {x, index},
                    [&](const NaiveTensors& v) {
                      return NaiveTensors{build(out, [&](Shape i) {
                        i[d] = ids[static_cast<size_t>(i[d])];
                        return v[0].at(i);
                      })};
                    });
}

// The row of padding_idx is shown, and gets no gradient.
Trial embedding_trial() {
  const int64_t v = draw(0, 5), width = draw(0, 4);
  Shape shape = any_shape(0, 3);
  if (v == 0) shape = Shape{0};
  const Tensor weight = any_floats({v, width}), ids = any_indices(shape, v);
  const int64_t padding = chance(2) ? -1 : draw(-1, v - 1);
  Shape out = shape;
  out.push_back(width);
  Trial t = rearranged([=](const Tensors& in) { return Tensors{embedding(in[0], in[1], padding)}; },
                       {weight, ids},
                       [&](const NaiveTensors& n) {
                         const NaiveTensor rows = to_naive(ids);
                         return NaiveTensors{build(out, [&](Shape i) {
                           const int64_t column = i.back();
                           i.erase(i.rank() - 1);
                           return n[0].at({static_cast<int64_t>(rows.at(i)), column});
                         })};
                       });
  t.gradients = [of_all = t.gradients, padding, width](const NaiveTensors& w) {
    NaiveTensors g = of_all(w);
    for (int64_t i = 0; padding >= 0 && i < width; ++i) g[0].at({padding, i}) = 0;
    return g;
  };
  return t;
}

Trial one_hot_trial() {
  const int64_t classes = draw(1, 5);
  const Tensor x = any_integers(any_shape(0, 3), 0, classes);
  Shape out = x.shape();
  out.push_back(classes);
  const NaiveTensor ids = to_naive(x);
  return plain([=](const Tensors& in) { return one_hot(in[0], classes); }, {x},
               build(out,
                     [&](Shape i) {
                       const int64_t c = i.back();
                       i.erase(i.rank() - 1);
                       return static_cast<double>(ids.at(i) == static_cast<double>(c));
                     }),
               i64);
}

Trial masked_select_trial() {
  const Shape whole = any_shape();
  Shape shape = whole, of_mask = broadcastable(whole);
  if (chance(2)) std::swap(shape, of_mask);
  const Tensor x = any_numbers(shape), mask = any_bools(of_mask);
  return rearranged([](const Tensors& in) { return Tensors{masked_select(in[0], in[1])}; },
                    {x, mask},
                    [&](const NaiveTensors& n) {
                      const NaiveTensor chosen = to_naive(mask);
                      NaiveTensor y{{0}, {}};
                      each_index(broadcast_shapes("", shape, of_mask), [&](const Shape& i) {
                        if (chosen.at(i) != 0) y.data.push_back(n[0].at(i));
                      });
                      y.shape[0] = y.numel();
                      return NaiveTensors{y};
                    });
}

}  // namespace

Properties index_properties() {
  return {{"gather", gather_trial},
          {"scatter", scatter_trial},
          {"scatter_add", scatter_add_trial},
          {"index_select", index_select_trial},
          {"index_put_add", index_put_add_trial},
          {"embedding", embedding_trial},
          {"one_hot", one_hot_trial},
          {"masked_select", masked_select_trial}};
}

}  // namespace fovea::properties
