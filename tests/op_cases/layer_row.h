// A row of the case table for a layer: a function of what the layer is called with and of its
// parameters.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "fovea/nn/functional_call.h"
#include "fovea/nn/module.h"
#include "tests/op_cases/op_case.h"

namespace fovea::cases {

/// The row of `call(layer, inputs)`: the first inputs are what the layer is called with, the others
/// its parameters, in the order of visit().
template <class L, class Call>
OpCase module_row(const char* name, std::shared_ptr<L> layer, std::vector<InputSpec> inputs,
                  Call call) {
  OpCase row;
  row.name = name;
  row.inputs = std::move(inputs);
  const size_t arguments = row.inputs.size();
  std::vector<std::string> names;
  for (const auto& [parameter, tensor] : layer->named_parameters()) {
    names.push_back(parameter);
    row.inputs.push_back(floats(tensor.shape()));
  }
  row.f = [layer, names, arguments, call](const Tensors& in) {
    NamedTensors values;
    for (size_t i = 0; i < names.size(); ++i) values.emplace_back(names[i], in[arguments + i]);
    return functional_call(*layer, values, [&] { return call(*layer, in); });
  };
  return row;
}

/// With numbers of a usual size: larger ones would make attention all but an argmax.
inline OpCase small(OpCase row) {
  for (InputSpec& s : row.inputs) {
    if (s.dtype == f64) s.range(-1, 1);
  }
  row.tolerance_f32 = 1e-5;
  return row;
}

/// The shapes of a row with other arguments, and its own parameters.
inline std::vector<Shape> with_arguments(const OpCase& row, std::vector<Shape> arguments) {
  for (size_t i = arguments.size(); i < row.inputs.size(); ++i) {
    arguments.push_back(row.inputs[i].shape);
  }
  return arguments;
}

}  // namespace fovea::cases
