// Initialisers: each fills a tensor in place, outside the graph, and returns it.
//
// Names and meanings are torch.nn.init's. Numbers come from the default generator unless one is
// given: the same seed gives the same bits on any number of threads. DTypeError unless the tensor
// is floating; ShapeError where fans are needed and it has fewer than two axes.
#pragma once

#include "fovea/core/random.h"
#include "fovea/core/tensor.h"

namespace fovea::init {

const Tensor& uniform_(const Tensor& t, double low = 0, double high = 1, Generator* g = nullptr);
const Tensor& normal_(const Tensor& t, double mean = 0, double std = 1, Generator* g = nullptr);
const Tensor& constant_(const Tensor& t, double value);
const Tensor& zeros_(const Tensor& t);
const Tensor& ones_(const Tensor& t);

/// N(mean, std^2) restricted to [low, high]: the inverse of the distribution function at a uniform
/// number. ValueError unless std > 0, low < high, and the interval has a mass above 0.
const Tensor& trunc_normal_(const Tensor& t, double mean = 0, double std = 1, double low = -2,
                            double high = 2, Generator* g = nullptr);

/// How many inputs and outputs one element of a layer's weight (out, in, kernel...) touches:
/// in = size(1) * kernel, out = size(0) * kernel.
struct Fans {
  int64_t in, out;
};
Fans fans(const Tensor& weight);

enum class Fan { in, out };
enum class Nonlinearity { linear, sigmoid, tanh, relu, leaky_relu, selu };
/// The factor that keeps the scale of activations through the nonlinearity; a: the negative slope
/// of leaky_relu. 1, 1, 5/3, sqrt(2), sqrt(2 / (1 + a^2)), 3/4.
double gain(Nonlinearity n, double a = 0.01);

/// U(-b, b), b = gain sqrt(6 / (fan_in + fan_out)). Glorot & Bengio 2010.
const Tensor& xavier_uniform_(const Tensor& t, double gain = 1, Generator* g = nullptr);
/// N(0, s^2), s = gain sqrt(2 / (fan_in + fan_out)).
const Tensor& xavier_normal_(const Tensor& t, double gain = 1, Generator* g = nullptr);

struct KaimingOptions {
  double a = 0;        ///< negative slope, used with leaky_relu
  Fan mode = Fan::in;  ///< in keeps the scale of the forward pass, out that of the backward pass
  Nonlinearity nonlinearity = Nonlinearity::leaky_relu;
};
/// U(-b, b), b = gain sqrt(3 / fan). He 2015.
const Tensor& kaiming_uniform_(const Tensor& t, const KaimingOptions& o = {},
                               Generator* g = nullptr);
/// N(0, s^2), s = gain / sqrt(fan).
const Tensor& kaiming_normal_(const Tensor& t, const KaimingOptions& o = {},
                              Generator* g = nullptr);

/// gain * Q, where the rows or the columns of Q (size(0), rest), whichever are fewer, are
/// orthonormal and uniformly distributed. Saxe 2013.
const Tensor& orthogonal_(const Tensor& t, double gain = 1, Generator* g = nullptr);

}  // namespace fovea::init
