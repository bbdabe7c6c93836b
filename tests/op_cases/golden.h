// What PyTorch computed for rows of the case table: rows.safetensors, attention.safetensors and
// recurrent_rows.safetensors of tests/golden, written by the programs beside them.
#pragma once

#include <string>
#include <vector>

#include "fovea/io/safetensors.h"
#include "tests/op_cases/op_case.h"

namespace fovea::cases {

class Golden {
 public:
  /// IoError when there is no such file, ValueError when two know the same row.
  explicit Golden(const std::vector<std::string>& paths);

  /// The ids of the rows it knows, in the order of the files.
  const std::vector<std::string>& rows() const { return rows_; }
  bool has(const std::string& id) const;

  struct Agreement {
    double error = 0;   ///< the largest relative error of the result and of all gradients
    std::string where;  ///< which of them: "output", "gradient 1"
  };
  /// Runs the row on the stored inputs, floats as `floating`. ValueError when the row has another
  /// number of inputs, or wants gradients that are not stored.
  Agreement compare(const OpCase& row, DType floating) const;

 private:
  const Tensor* find(const std::string& id, const std::string& what) const;
  TensorMap map_;
  std::vector<std::string> rows_;
};

}  // namespace fovea::cases
