// Reductions and scans over raw rows. Serial: the caller cuts work into chunks whose borders depend
// on shapes alone and combines the results in order.
//
// x: n contiguous elements, or a block of `rows` rows of `cols` elements, `row_stride` apart.
// For a given n a result has the same bits on every run of one machine; vectors of another width
// add in another order, so bits differ between processors.
#pragma once

#include <cstdint>

namespace fovea::kernels {

// --- one row -> one number
// ------------------------------------------------------------------------ Float terms are added in
// float for at most 24 steps and then in double: the relative error of a sum of same-signed terms
// stays below 1e-6 for any n. Double terms use compensated blocks.

double sum(const float* x, int64_t n);
double sum(const double* x, int64_t n);
int64_t sum(const int64_t* x, int64_t n);  // wraps around, as int64 does
int64_t sum(const uint8_t* x, int64_t n);  // bool: how many are true

double dot(const float* x, const float* y, int64_t n);
double dot(const double* x, const double* y, int64_t n);

double sum_abs(const float* x, int64_t n);
double sum_abs(const double* x, int64_t n);

// sum_i x_i^2, squared in double: [1e30, 1e30] in float does not overflow.
double sum_squares(const float* x, int64_t n);
double sum_squares(const double* x, int64_t n);

// sum_i (x_i - mean)^2: the second pass of a two-pass variance.
double sum_squared_deviation(const float* x, double mean, int64_t n);
double sum_squared_deviation(const double* x, double mean, int64_t n);

// Products run in double; int64 wraps around.
double prod(const float* x, int64_t n);
double prod(const double* x, int64_t n);
int64_t prod(const int64_t* x, int64_t n);

// A NaN anywhere makes the result NaN. n = 0 gives the identity: -inf for max, +inf for min, the
// ends of the range for int64.
float max(const float* x, int64_t n);
double max(const double* x, int64_t n);
int64_t max(const int64_t* x, int64_t n);
float min(const float* x, int64_t n);
double min(const double* x, int64_t n);
int64_t min(const int64_t* x, int64_t n);

// The first index of the extreme value; the first NaN wins over every number. n >= 1.
int64_t argmax(const float* x, int64_t n);
int64_t argmax(const double* x, int64_t n);
int64_t argmax(const int64_t* x, int64_t n);
int64_t argmin(const float* x, int64_t n);
int64_t argmin(const double* x, int64_t n);
int64_t argmin(const int64_t* x, int64_t n);

bool any(const uint8_t* x, int64_t n);
bool all(const uint8_t* x, int64_t n);

// --- a block of rows -> one row
// -------------------------------------------------------------------

// acc[c] += sum_r x[r, c]. Float adds trees of 8 rows and then adds those to acc.
void add_rows(const float* x, int64_t rows, int64_t row_stride, int64_t cols, float* acc);
void add_rows(const float* x, int64_t rows, int64_t row_stride, int64_t cols, double* acc);
void add_rows(const double* x, int64_t rows, int64_t row_stride, int64_t cols, double* acc);
void add_rows(const int64_t* x, int64_t rows, int64_t row_stride, int64_t cols, int64_t* acc);
void add_rows(const uint8_t* x, int64_t rows, int64_t row_stride, int64_t cols, int64_t* acc);

// acc[c] = max(acc[c], max_r x[r, c]), NaN propagating.
void max_rows(const float* x, int64_t rows, int64_t row_stride, int64_t cols, float* acc);
void max_rows(const double* x, int64_t rows, int64_t row_stride, int64_t cols, double* acc);
void max_rows(const int64_t* x, int64_t rows, int64_t row_stride, int64_t cols, int64_t* acc);
void min_rows(const float* x, int64_t rows, int64_t row_stride, int64_t cols, float* acc);
void min_rows(const double* x, int64_t rows, int64_t row_stride, int64_t cols, double* acc);
void min_rows(const int64_t* x, int64_t rows, int64_t row_stride, int64_t cols, int64_t* acc);

// The same, remembering where: index[c] = first_row + r of the first row that gave acc[c]. Row 0
// with first_row 0 starts: acc and index need no values before. Blocks come in ascending order.
void argmax_rows(const float* x, int64_t rows, int64_t row_stride, int64_t cols, int64_t first_row,
                 float* acc, int64_t* index);
void argmax_rows(const double* x, int64_t rows, int64_t row_stride, int64_t cols, int64_t first_row,
                 double* acc, int64_t* index);
void argmax_rows(const int64_t* x, int64_t rows, int64_t row_stride, int64_t cols,
                 int64_t first_row, int64_t* acc, int64_t* index);
void argmin_rows(const float* x, int64_t rows, int64_t row_stride, int64_t cols, int64_t first_row,
                 float* acc, int64_t* index);
void argmin_rows(const double* x, int64_t rows, int64_t row_stride, int64_t cols, int64_t first_row,
                 double* acc, int64_t* index);
void argmin_rows(const int64_t* x, int64_t rows, int64_t row_stride, int64_t cols,
                 int64_t first_row, int64_t* acc, int64_t* index);

// --- scans: one row -> one row; y may be x
// -------------------------------------------------------- `reverse` runs from the last element to
// the first, which is what a cumsum's gradient needs. Float runs in double inside.

void cumsum(const float* x, float* y, int64_t n, bool reverse = false);
void cumsum(const double* x, double* y, int64_t n, bool reverse = false);
void cumsum(const int64_t* x, int64_t* y, int64_t n, bool reverse = false);
void cumprod(const float* x, float* y, int64_t n);
void cumprod(const double* x, double* y, int64_t n);
void cumprod(const int64_t* x, int64_t* y, int64_t n);

// y_i = log sum_{j <= i} exp(x_j), with a running maximum; leading -inf give -inf.
void logcumsumexp(const float* x, float* y, int64_t n);
void logcumsumexp(const double* x, double* y, int64_t n);

}  // namespace fovea::kernels
