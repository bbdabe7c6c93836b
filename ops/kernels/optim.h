// Optimiser steps, each one pass over memory. p: parameters, g: gradient, n elements each.
// Serial: the caller cuts [0, n) into chunks. Scalars are computed in double and rounded once.
#pragma once

#include <cstdint>

namespace fovea::kernels {

/// Adam (Kingma & Ba 2015, algorithm 1) and AdamW (Loshchilov & Hutter 2019, algorithm 2), with
/// PyTorch's arrangement:
///   g += weight_decay p                 (or, decoupled:  p *= 1 - lr weight_decay)
///   m  = beta1 m + (1 - beta1) g,  v = beta2 v + (1 - beta2) g^2
///   p -= lr / bias1 * m / (sqrt(v) / sqrt(bias2) + eps)
struct AdamStep {
  double lr = 1e-3;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double eps = 1e-8;
  double weight_decay = 0;
  bool decoupled = false;  // AdamW
  double bias1 = 1;        // 1 - beta1^t at step t = 1, 2, ...
  double bias2 = 1;        // 1 - beta2^t
};
void adam(float* p, const float* g, float* m, float* v, int64_t n, const AdamStep& step);
void adam(double* p, const double* g, double* m, double* v, int64_t n, const AdamStep& step);

/// Stochastic gradient descent with PyTorch's momentum:
///   g += weight_decay p
///   buffer = g on the first step, then momentum buffer + (1 - dampening) g
///   p -= lr (nesterov ? g + momentum buffer : buffer)
/// Without momentum, buffer may be null: p -= lr g.
struct SgdStep {
  double lr = 1e-2;
  double momentum = 0;
  double dampening = 0;
  bool nesterov = false;
  double weight_decay = 0;
  bool first_step = false;
};
void sgd(float* p, const float* g, float* buffer, int64_t n, const SgdStep& step);
void sgd(double* p, const double* g, double* buffer, int64_t n, const SgdStep& step);

/// A step scaled by the root of accumulated squares, as PyTorch has it:
///   g += weight_decay p;  v = keep v + add g^2;  p -= lr g / (sqrt(v) + eps)
/// RMSprop (Hinton's lecture 6e, 2012) keeps alpha and adds 1 - alpha; Adagrad (Duchi et al. 2011)
/// keeps and adds all.
struct RootStep {
  double lr = 1e-2;
  double keep = 1;
  double add = 1;
  double eps = 1e-8;
  double weight_decay = 0;
};
void root_step(float* p, const float* g, float* v, int64_t n, const RootStep& step);
void root_step(double* p, const double* g, double* v, int64_t n, const RootStep& step);

/// y = a y + b x: gradient accumulation (1, 1), moving averages (d, 1 - d).
void scale_add(float* y, const float* x, int64_t n, double a, double b);
void scale_add(double* y, const double* x, int64_t n, double a, double b);

}  // namespace fovea::kernels
