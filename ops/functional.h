// Derivatives as functions: Jacobians, Hessians, products with them, and recomputation.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "fovea/core/gradcheck.h"
#include "fovea/core/tensor.h"

namespace fovea {

/// dy/dx of y = f(x): shape y.shape + x.shape, by one backward pass an element of y. With
/// create_graph the result can be differentiated again.
Tensor jacobian(const std::function<Tensor(const Tensor&)>& f, const Tensor& x,
                bool create_graph = false);
/// d2y/dx2 of a scalar y = f(x): shape x.shape + x.shape. ShapeError unless y has one element.
Tensor hessian(const std::function<Tensor(const Tensor&)>& f, const Tensor& x);
/// The Hessian of a scalar f at x times v (shape of x), by one backward pass through a backward
/// pass. Pearlmutter 1994.
Tensor hvp(const std::function<Tensor(const Tensor&)>& f, const Tensor& x, const Tensor& v);
/// The Jacobian of f at x times v: the derivative of y along v, shape of y. Two backward passes:
/// the vjp is linear in its upstream gradient, and its own gradient by that is the jvp.
Tensor jvp(const std::function<Tensor(const Tensor&)>& f, const Tensor& x, const Tensor& v);

/// y = f(inputs), keeping only the inputs: the backward pass computes f again. f must give the same
/// bits when called again, or backward raises a GraphError: it sees the same numbers of the default
/// generator, but not of one of its own, and must change nothing in place (batch_norm moves its
/// running statistics twice). Every tensor whose gradient is
/// wanted must be among the inputs: GraphError when f reaches another leaf. Chen et al. 2016.
Tensor checkpoint(const TensorFunction& f, const Tensors& inputs);

}  // namespace fovea
