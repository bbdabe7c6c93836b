#include "tests/properties/models.h"

#include <map>
#include <numeric>

#include "tests/op_cases/op_case.h"

namespace fovea::properties {
namespace {

using cases::each_index;
using cases::filled;
using cases::to_naive;

std::function<Tensors(const Tensors&)> listed(const Function& f) {
  return [f](const Tensors& x) { return Tensors{f(x)}; };
}
Function of_one(const Function1& f) {
  return [f](const Tensors& x) { return f(x[0]); };
}

// Tensors that hold the numbers first, first + 1, ... of their elements.
NaiveTensor numbered(const Shape& shape, double first = 0) {
  NaiveTensor n = filled(shape, 0);
  std::iota(n.data.begin(), n.data.end(), first);
  return n;
}

// The numbers of the elements along the axes, one list a line; and the shape of what they become.
struct Lines {
  Shape folded;
  std::vector<Values1d> numbers;
};
Lines lines_of(const Shape& shape, const std::vector<int64_t>& axes, bool keep) {
  Lines l;
  l.folded = cases::fold(numbered(shape), shape.empty() ? std::vector<int64_t>{} : axes, keep,
                         [&](const Values1d& line) {
                           l.numbers.push_back(line);
                           return 0.0;
                         })
                 .shape;
  return l;
}

Values1d pick(const NaiveTensor& x, const Values1d& numbers) {
  Values1d v;
  for (double n : numbers) v.push_back(x.data[static_cast<size_t>(n)]);
  return v;
}

}  // namespace

Trial elementwise(const Function& f, const Tensors& inputs, const Element& value,
                  const std::vector<Element>& partials) {
  const NaiveTensors in = to_naive(inputs);
  Shape shape;
  for (const NaiveTensor& x : in) shape = broadcast_shapes("model", shape, x.shape);
  const auto each = [in, shape](const auto& use) {
    Values1d args(in.size());
    each_index(shape, [&](const Shape& i) {
      for (size_t k = 0; k < in.size(); ++k) args[k] = in[k].at(i);
      use(i, args);
    });
  };
  Trial t{inputs, listed(f)};
  t.values = {filled(shape, 0)};
  each([&](const Shape& i, const Values1d& args) { t.values[0].at(i) = value(args); });
  t.gradients = [in, each, partials](const NaiveTensors& w) {
    NaiveTensors g;
    for (const NaiveTensor& x : in) g.push_back(filled(x.shape, 0));
    each([&](const Shape& i, const Values1d& args) {
      for (size_t k = 0; k < partials.size(); ++k) g[k].at(i) += w[0].at(i) * partials[k](args);
    });
    return g;
  };
  return t;
}

Trial folded(const Function1& f, const Tensor& x, const std::vector<int64_t>& axes, bool keep,
             const Line& value, const Slopes& slopes) {
  const Lines lines = lines_of(x.shape(), axes, keep);
  const NaiveTensor in = to_naive(x);
  Trial t{{x}, listed(of_one(f))};
  t.values = {{lines.folded, {}}};
  for (const Values1d& line : lines.numbers) t.values[0].data.push_back(value(pick(in, line)));
  t.gradients = [in, lines, slopes](const NaiveTensors& w) {
    NaiveTensor g = filled(in.shape, 0);
    for (size_t j = 0; j < lines.numbers.size(); ++j) {
      const Values1d slope = slopes(pick(in, lines.numbers[j]));
      for (size_t i = 0; i < slope.size(); ++i) {
        g.data[static_cast<size_t>(lines.numbers[j][i])] = w[0].data[j] * slope[i];
      }
    }
    return NaiveTensors{g};
  };
  return t;
}

Trial scanned(const Function1& f, const Tensor& x, int64_t axis, const Slopes& value,
              const LineGradient& gradient) {
  const Lines lines = lines_of(x.shape(), {axis}, true);
  const NaiveTensor in = to_naive(x);
  const auto along = [in, lines](const auto& of_line) {
    NaiveTensor y = filled(in.shape, 0);
    for (const Values1d& line : lines.numbers) {
      const Values1d v = of_line(line);
      for (size_t i = 0; i < v.size(); ++i) y.data[static_cast<size_t>(line[i])] = v[i];
    }
    return NaiveTensors{y};
  };
  Trial t{{x}, listed(of_one(f))};
  t.values = along([&](const Values1d& line) { return value(pick(in, line)); });
  t.gradients = [in, along, gradient](const NaiveTensors& w) {
    return along([&](const Values1d& line) { return gradient(pick(in, line), pick(w[0], line)); });
  };
  return t;
}

Trial rearranged(const std::function<Tensors(const Tensors&)>& f, const Tensors& inputs,
                 const std::function<NaiveTensors(const NaiveTensors&)>& model, double constant) {
  Values1d elements;
  NaiveTensors numbers;
  for (const NaiveTensor& x : to_naive(inputs)) {
    numbers.push_back(numbered(x.shape, static_cast<double>(elements.size())));
    elements.insert(elements.end(), x.data.begin(), x.data.end());
  }
  const NaiveTensors sources = model(numbers);
  Trial t{inputs, f};
  for (const NaiveTensor& s : sources) {
    t.values.push_back(cases::map(
        s, [&](double n) { return n == kConstant ? constant : elements[static_cast<size_t>(n)]; }));
  }
  t.gradients = [sources, numbers, n = elements.size()](const NaiveTensors& w) {
    Values1d all(n, 0.0);
    for (size_t k = 0; k < sources.size(); ++k) {
      for (size_t i = 0; i < w[k].data.size(); ++i) {
        const double from = sources[k].data[i];
        if (from != kConstant) all[static_cast<size_t>(from)] += w[k].data[i];
      }
    }
    NaiveTensors g;
    auto at = all.begin();
    for (const NaiveTensor& x : numbers) {
      g.push_back({x.shape, {at, at + x.numel()}});
      at += x.numel();
    }
    return g;
  };
  return t;
}

Trial shows(const Function1& f, const Tensor& x, const Shape& shape,
            const std::function<Shape(const Shape&)>& from) {
  return rearranged(listed(of_one(f)), {x}, [&](const NaiveTensors& n) {
    return NaiveTensors{cases::build(shape, [&](const Shape& i) { return n[0].at(from(i)); })};
  });
}

Trial reshaped(const Function1& f, const Tensor& x, const Shape& shape) {
  return rearranged(listed(of_one(f)), {x}, [&](const NaiveTensors& n) {
    return NaiveTensors{cases::reshape(n[0], shape)};
  });
}

Trial products(const Function& f, const Tensors& inputs, const std::vector<std::string>& letters,
               const std::string& result) {
  const NaiveTensors in = to_naive(inputs);
  std::string all = result;
  std::map<char, int64_t> size;
  for (size_t k = 0; k < in.size(); ++k) {
    for (int d = 0; d < in[k].shape.rank(); ++d) {
      const char c = letters[k][static_cast<size_t>(d)];
      if (all.find(c) == std::string::npos) all += c;
      const int64_t n = in[k].shape[d];
      if (!size.count(c) || n != 1) size[c] = n;
    }
  }
  Shape out, walk;
  for (char c : result) out.push_back(size[c]);
  for (char c : all) walk.push_back(size[c]);
  // By how much one step of each letter moves in a tensor of these axes.
  const auto steps = [&all](const Shape& shape, const std::string& names) {
    const Strides strides = contiguous_strides(shape);
    Shape s = Shape::filled(static_cast<int64_t>(all.size()), 0);
    for (int d = 0; d < shape.rank(); ++d) {
      const auto at = static_cast<int>(all.find(names[static_cast<size_t>(d)]));
      if (shape[d] != 1) s[at] += strides[d];
    }
    return s;
  };
  std::vector<Shape> step;
  for (size_t k = 0; k < in.size(); ++k) step.push_back(steps(in[k].shape, letters[k]));
  step.push_back(steps(out, result));
  // Calls use(places) with the place in every input, and last in the result, of every product.
  const auto each = [step, walk](const auto& use) {
    std::vector<size_t> at(step.size());
    each_index(walk, [&](const Shape& i) {
      for (size_t k = 0; k < at.size(); ++k) {
        int64_t n = 0;
        for (int d = 0; d < i.rank(); ++d) n += i[d] * step[k][d];
        at[k] = static_cast<size_t>(n);
      }
      use(at);
    });
  };
  // The product of all inputs at these places but one.
  const auto others = [in](const std::vector<size_t>& at, size_t but) {
    double p = 1;
    for (size_t k = 0; k < in.size(); ++k) p *= k == but ? 1 : in[k].data[at[k]];
    return p;
  };
  Trial t{inputs, listed(f)};
  t.values = {filled(out, 0)};
  each([&](const auto& at) { t.values[0].data[at.back()] += others(at, in.size()); });
  t.gradients = [in, each, others](const NaiveTensors& w) {
    NaiveTensors g;
    for (const NaiveTensor& x : in) g.push_back(filled(x.shape, 0));
    each([&](const auto& at) {
      for (size_t k = 0; k < in.size(); ++k) {
        g[k].data[at[k]] += w[0].data[at.back()] * others(at, k);
      }
    });
    return g;
  };
  return t;
}

Trial plain(const Function& f, const Tensors& inputs, const NaiveTensor& value, DType dtype) {
  Trial t{inputs, listed(f)};
  t.values = {value};
  return t.gives({dtype});
}

}  // namespace fovea::properties
