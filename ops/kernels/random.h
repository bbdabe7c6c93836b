// Random fills. Element i of what (seed, stream) names has one value, whoever computes it: filling
// [0, n) at once or in pieces, on any number of threads, gives the same bits.
//
// `out` is where element `begin` goes; elements [begin, begin + n) are written.
// Word w is word w % 4 of Philox block w / 4 (core/philox.h). float, bernoulli and dropout: element
// i takes word i. double and 64-bit integers: element i takes words 2 i (low) and 2 i + 1 (high).
// Normals come in pairs (Box and Muller 1958): elements 2 j and 2 j + 1 share what both would take.
#pragma once

#include <cstdint>

namespace fovea::kernels {

void fill_bits64(uint64_t* out, int64_t begin, int64_t n, uint64_t seed, uint64_t stream);

// low + u (high - low) with u in [0, 1) of 24 bits (float) or 53 bits (double); strictly below
// high. The same bits on every instruction set. low < high, both finite, as is high - low.
void fill_uniform(float* out, int64_t begin, int64_t n, uint64_t seed, uint64_t stream, float low,
                  float high);
void fill_uniform(double* out, int64_t begin, int64_t n, uint64_t seed, uint64_t stream, double low,
                  double high);

// In the open interval (0, 1): log(u) and log(1 - u) are finite. Multiples of 2^-24 (float) or
// 2^-53 (double), odd ones only. The same bits on every instruction set.
void fill_uniform_open(float* out, int64_t begin, int64_t n, uint64_t seed, uint64_t stream);
void fill_uniform_open(double* out, int64_t begin, int64_t n, uint64_t seed, uint64_t stream);

// mean + std z, z standard normal; |z| stays below 6.8 (float) and 8.6 (double).
void fill_normal(float* out, int64_t begin, int64_t n, uint64_t seed, uint64_t stream, float mean,
                 float std);
void fill_normal(double* out, int64_t begin, int64_t n, uint64_t seed, uint64_t stream, double mean,
                 double std);

// Integers in [low, high), low < high: element i from the 64 bits of fill_bits64 by multiplication;
// no value is more likely than another by more than (high - low) 2^-64.
void fill_integers(int64_t* out, int64_t begin, int64_t n, uint64_t seed, uint64_t stream,
                   int64_t low, int64_t high);

// 1 with probability p in [0, 1], rounded to a multiple of 2^-32; exactly never at 0, always at 1.
void fill_bernoulli(uint8_t* out, int64_t begin, int64_t n, uint64_t seed, uint64_t stream,
                    double p);

// y_i = x_i / (1 - p) where fill_bernoulli(1 - p) keeps element i, else 0, whatever x_i is. x and y
// point at element `begin`; y may be x. p = 0 copies, p = 1 writes zeros. The same call on the
// upstream gradient is the backward pass.
void dropout(const float* x, float* y, int64_t begin, int64_t n, double p, uint64_t seed,
             uint64_t stream);
void dropout(const double* x, double* y, int64_t begin, int64_t n, double p, uint64_t seed,
             uint64_t stream);

}  // namespace fovea::kernels
