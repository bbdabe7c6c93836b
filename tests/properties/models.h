// Naive models of the kinds of operations there are: values and gradients by plain loops.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tests/properties/property.h"

namespace fovea::properties {

using cases::Values1d;
using Function = std::function<Tensor(const Tensors&)>;
using Function1 = std::function<Tensor(const Tensor&)>;

/// Of the elements that stand at one place of all inputs, broadcast.
using Element = std::function<double(const Values1d&)>;
/// result[i] = value(elements at i), and partials[k] its derivative in input k; inputs beyond the
/// partials get no gradient.
Trial elementwise(const Function& f, const Tensors& inputs, const Element& value,
                  const std::vector<Element>& partials = {});

using Line = std::function<double(const Values1d&)>;
using Slopes = std::function<Values1d(const Values1d&)>;
/// The elements along the axes become value(line), whose derivative in them is slopes(line).
Trial folded(const Function1& f, const Tensor& x, const std::vector<int64_t>& axes, bool keep,
             const Line& value, const Slopes& slopes = {});

/// (line, upstream line) -> gradient of the line
using LineGradient = std::function<Values1d(const Values1d&, const Values1d&)>;
/// Every line along the axis becomes value(line), of the same length.
Trial scanned(const Function1& f, const Tensor& x, int64_t axis, const Slopes& value,
              const LineGradient& gradient = {});

/// Stands for the constant among the numbers of elements.
inline constexpr double kConstant = -1;
/// Results that only show elements of the inputs, or a constant. The model is given the elements'
/// numbers (those of all inputs counted through) and shows them in the same manner: that tells
/// where each element of a result comes from, and where its gradient must go.
Trial rearranged(const std::function<Tensors(const Tensors&)>& f, const Tensors& inputs,
                 const std::function<NaiveTensors(const NaiveTensors&)>& model,
                 double constant = 0);
/// One input, one result: result[i] = x[from(i)].
Trial shows(const Function1& f, const Tensor& x, const Shape& shape,
            const std::function<Shape(const Shape&)>& from);
/// The same elements in the same order under another shape.
Trial reshaped(const Function1& f, const Tensor& x, const Shape& shape);

/// Sums of products, named by letters as in einsum: letters[k] are the axes of input k. An axis of
/// size 1 is broadcast.
Trial products(const Function& f, const Tensors& inputs, const std::vector<std::string>& letters,
               const std::string& result);

/// Results without a gradient: indices, bools.
Trial plain(const Function& f, const Tensors& inputs, const NaiveTensor& value, DType dtype);

}  // namespace fovea::properties
