// Every error Fovea raises derives from fovea::Error and says, in one line:
//
//     op: rule broken: actual shapes by argument name; what to do
//
// Nothing in the library aborts, and nothing lets a NaN or a wrong shape through in silence.
#pragma once

#include <stdexcept>
#include <string>

namespace fovea {

class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Sizes, ranks or broadcasting do not fit.
class ShapeError : public Error {
 public:
  using Error::Error;
};

/// An operation got a dtype it is not defined for.
class DTypeError : public Error {
 public:
  using Error::Error;
};

/// An index, axis or class number is out of range.
class IndexError : public Error {
 public:
  using Error::Error;
};

/// The autograd graph was used in a way that cannot give a right gradient.
class GraphError : public Error {
 public:
  using Error::Error;
};

/// A file is missing, malformed or cannot be written.
class IoError : public Error {
 public:
  using Error::Error;
};

/// An option or number is outside its meaning: a probability of 1.5, a temperature of 0.
class ValueError : public Error {
 public:
  using Error::Error;
};

}  // namespace fovea
