// Rows picked from a table and added back to it: embeddings and their gradient. Serial.
//
// table: (table_rows, row_len), idx: (n), out and src: (n, row_len), all contiguous. The caller has
// checked 0 <= idx[i] < table_rows.
#pragma once

#include <cstdint>
#include <limits>

namespace fovea::kernels {

// out[i] = table[idx[i]].
void gather_rows(const float* table, int64_t row_len, const int64_t* idx, int64_t n, float* out);
void gather_rows(const double* table, int64_t row_len, const int64_t* idx, int64_t n, double* out);
void gather_rows(const int64_t* table, int64_t row_len, const int64_t* idx, int64_t n,
                 int64_t* out);
void gather_rows(const uint8_t* table, int64_t row_len, const int64_t* idx, int64_t n,
                 uint8_t* out);

// Which rows of the table one call writes. Threads that split [0, table_rows) between them add to
// each row in the order of i whatever the split, so the bits do not depend on it.
struct RowRange {
  int64_t first = 0;
  int64_t last = std::numeric_limits<int64_t>::max();  // one past the end
  int64_t skip = -1;                                   // a row that takes nothing (padding)
};

// table[idx[i]] += src[i] for i = 0, 1, ... n - 1, one after another. uint8 is bool: it takes "or".
void scatter_add_rows(const float* src, int64_t row_len, const int64_t* idx, int64_t n,
                      float* table, const RowRange& range = {});
void scatter_add_rows(const double* src, int64_t row_len, const int64_t* idx, int64_t n,
                      double* table, const RowRange& range = {});
void scatter_add_rows(const int64_t* src, int64_t row_len, const int64_t* idx, int64_t n,
                      int64_t* table, const RowRange& range = {});
void scatter_add_rows(const uint8_t* src, int64_t row_len, const int64_t* idx, int64_t n,
                      uint8_t* table, const RowRange& range = {});

}  // namespace fovea::kernels
