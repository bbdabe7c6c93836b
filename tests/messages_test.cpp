// What every operation says to a wrong call: an exception of the right type, in one form,
//
//     op: rule broken: actual shapes by argument name; what to do
//
// with the name of the operation that was called, whatever it is made of.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cctype>
#include <set>

#include "fovea/core/error.h"
#include "tests/messages/refusals.h"
#include "tests/op_cases/refused.h"
#include "tests/signatures.h"

namespace fovea::messages {
namespace {

using cases::InputSpec;
using cases::OpCase;

std::vector<Refusal> all_refusals() {
  std::vector<Refusal> all;
  for (const auto& some :
       {of_creation, of_elements, of_shapes, of_indexing, of_layers, of_images, of_methods}) {
    for (Refusal& r : some()) all.push_back(std::move(r));
  }
  return all;
}

TEST(Messages, OfTheTables) {
  for (const Refusal& r : all_refusals()) {
    EXPECT_EQ(cases::refused(r.op, r.kind, r.parts, r.call), "");
  }
}

// Rows of layers, and rows that ask an input something before they call the operation or that call
// several: what these say is not the row's matter.
bool calls_another(const OpCase& row) {
  static const std::set<std::string> ids{"to.same",
                                         "reshape.empty",
                                         "reshape.of_transposed",
                                         "view.transposed_kept",
                                         "contiguous.of_transposed",
                                         "mul.operators",
                                         "batch_norm.moved_mean",
                                         "batch_norm.moved_var"};
  return std::isupper(static_cast<unsigned char>(row.name[0])) || ids.count(row.id()) > 0;
}

// The names of the tensors that an operation takes, and whether one of them may be left out.
struct TensorArguments {
  std::set<std::string> names;
  bool some_optional = false;
};
TensorArguments tensor_arguments(const std::string& op) {
  TensorArguments found;
  for (const Signature& s : declared_operations()) {
    for (const Parameter& p : s.parameters) {
      if (s.name != op || p.type.find("Tensor") == std::string::npos) continue;
      found.names.insert(p.name);
      found.some_optional |= p.optional || p.name.rfind("running_", 0) == 0;
    }
  }
  return found;
}

// An undefined tensor for each argument in turn is refused by the argument's name.
TEST(Messages, OfUndefinedTensors) {
  for (const OpCase& row : cases::table()) {
    if (calls_another(row)) continue;
    const TensorArguments arguments = tensor_arguments(row.name);
    for (size_t k = 0; k < row.inputs.size(); ++k) {
      Tensors inputs = cases::make_inputs(row.inputs, f32, 1);
      inputs[k] = Tensor();
      SCOPED_TRACE(fmt::format("{}, input {}", row.id(), k));
      try {
        (void)row.f(inputs);
        EXPECT_TRUE(arguments.some_optional) << "takes an undefined tensor";
      } catch (const ShapeError& e) {
        const std::string message = e.what();
        EXPECT_EQ(cases::complaint(row.name, {" undefined"}, message), "");
        const size_t begin = row.name.size() + 2;
        const std::string name = message.substr(begin, message.find_first_of(" [", begin) - begin);
        EXPECT_TRUE(arguments.names.count(name)) << "no argument of that name: " << message;
      }
    }
  }
}

// Inputs of another shape or dtype: legal, or refused in the form above, by the operation itself
// and not by one it is made of. The sizes of the wrong input are named.
TEST(Messages, OfInputsChangedInEveryWay) {
  const auto shapes = [](const Shape& s) {
    std::vector<Shape> all{{}, Shape::filled(kMaxRank, 1), Shape::filled(kMaxRank, 2)};
    for (int d = 0; d < s.rank(); ++d) {
      all.push_back(s), all.back()[d] += 1;
      all.push_back(s), all.back()[d] = 0;
      all.push_back(s), all.back().erase(d);
    }
    if (s.rank() < kMaxRank) all.push_back(s), all.back().insert(0, 7);
    return all;
  };
  for (const OpCase& row : cases::table()) {
    if (calls_another(row)) continue;
    for (size_t k = 0; k < row.inputs.size(); ++k) {
      std::vector<InputSpec> changed;
      for (const Shape& s : shapes(row.inputs[k].shape)) {
        changed.push_back(row.inputs[k]);
        changed.back().shape = s;
        changed.back().values = {};
      }
      for (DType t : {boolean, i64, f64}) {
        if (t == row.inputs[k].dtype) continue;
        changed.push_back(cases::integers(row.inputs[k].shape, 0, 2).no_grad());
        changed.back().dtype = t;
      }
      for (const InputSpec& spec : changed) {
        std::vector<InputSpec> specs = row.inputs;
        specs[k] = spec;
        const Tensors inputs = cases::make_inputs(specs, f32, 1);
        SCOPED_TRACE(fmt::format("{}, input {} {} {}", row.id(), k, fovea::name(inputs[k].dtype()),
                                 spec.shape.str()));
        try {
          (void)row.f(inputs);
        } catch (const ShapeError& e) {
          EXPECT_EQ(cases::complaint(row.name, {spec.shape.str()}, e.what()), "");
        } catch (const DTypeError& e) {
          const std::string dtype(fovea::name(inputs[k].dtype()));
          EXPECT_EQ(cases::complaint(row.name, {dtype}, e.what()), "");
        } catch (const Error& e) {
          EXPECT_EQ(cases::complaint(row.name, {}, e.what()), "");
        } catch (const std::out_of_range&) {
          // of several results, the row reads one that there is no more
        }
      }
    }
  }
}

// Operations that take whatever tensor they get: one x of any shape and dtype. What is left to
// refuse is an undefined one, which OfUndefinedTensors does.
bool takes_any_tensor(const std::string& op) {
  for (const Signature& s : declared_operations()) {
    if (s.name != op) continue;
    if (s.parameters.size() > 1 || s.parameters[0].type != "const Tensor&") return false;
  }
  return true;
}

// Why the others have nothing to refuse but an undefined tensor.
const std::set<std::string> kTakesEverything{
    "to",     // every dtype converts into every other
    "equal",  // tensors of different shapes or dtypes are not equal
};

TEST(Messages, AllOperationsAreHere) {
  std::set<std::string> refusing;
  for (const Refusal& r : all_refusals()) refusing.insert(r.op);
  for (const OpCase& row : cases::table()) {
    if (!row.bad.empty()) refusing.insert(row.name);
  }
  size_t seen = 0;
  for (const Signature& s : declared_operations()) {
    ++seen;
    EXPECT_TRUE(refusing.count(s.name) || kTakesEverything.count(s.name) ||
                takes_any_tensor(s.name))
        << s.name << " is declared in ops/ops.h, and no test says what it refuses";
  }
  EXPECT_GT(seen, 100u) << "the header was not understood";
  for (const std::string& op : kTakesEverything) EXPECT_FALSE(refusing.count(op)) << op;
}

}  // namespace
}  // namespace fovea::messages
