// One property an operation: any random call of it gives the values and the gradients of a naive
// model. A family of operations is a table of these; property_test.cpp runs them all.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tests/properties/arbitrary.h"

namespace fovea::properties {

/// Where the elements of a result lie: in memory of its own, in that of the first input, or either.
enum class Storage { own, shared, any };

/// One random call of an operation, and what is right.
struct Trial {
  Tensors inputs;
  std::function<Tensors(const Tensors&)> f;
  NaiveTensors values = {};        ///< one a result
  std::vector<DType> dtypes = {};  ///< one a result; empty: all are of the inputs' promoted dtype
  /// The gradient of sum_k <w_k, result_k> in every input; not asked for those that want none.
  std::function<NaiveTensors(const NaiveTensors& w)> gradients = {};
  Storage storage = Storage::own;

  Trial& gives(std::vector<DType> types) { return dtypes = std::move(types), *this; }
  Trial& lies(Storage s) { return storage = s, *this; }
};

struct Property {
  std::string name;  ///< as ops/ops.h declares it
  std::function<Trial()> trial;
};
using Properties = std::vector<Property>;

Properties unary_properties();
Properties binary_properties();
Properties comparison_properties();
Properties reduction_properties();
Properties scan_properties();
Properties score_properties();
Properties sort_properties();
Properties product_properties();
Properties view_properties();
Properties part_properties();
Properties arrangement_properties();
Properties index_properties();

}  // namespace fovea::properties
