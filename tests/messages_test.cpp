// What every operation says to a wrong call: an exception of the right type, in one form,
//
//     op: rule broken: actual shapes by argument name; what to do
//
// with the name of the operation that was called, whatever it is made of.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <set>

#include "fovea/core/engine.h"
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

// More than the address space holds, and still a count that 64 bits hold.
TEST(Messages, OfMemoryThatIsNotThere) {
  try {
    (void)zeros({int64_t{1} << 52});
    ADD_FAILURE() << "there was memory";
  } catch (const Error& e) {
    EXPECT_EQ(cases::complaint("allocate", {"bytes", "f32 [4503599627370496]"}, e.what()), "");
  }
}

// Rows of layers and of what nn/ declares, and rows that ask an input something before they call
// the operation or that call several: what these say is not the row's matter.
bool calls_another(const OpCase& row) {
  static const std::set<std::string> operations = [] {
    std::set<std::string> names;
    for (const Signature& s : declared_operations()) names.insert(s.name);
    return names;
  }();
  static const std::set<std::string> ids{"to.same",
                                         "reshape.empty",
                                         "reshape.of_transposed",
                                         "view.transposed_kept",
                                         "contiguous.of_transposed",
                                         "mul.operators",
                                         "batch_norm.moved_mean",
                                         "batch_norm.moved_var"};
  return operations.count(row.name) == 0 || ids.count(row.id()) > 0;
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
      found.some_optional |=
          s.name == op && (p.type.find("AttentionOptions") != std::string::npos ||
                           p.type.find("NystromOptions") != std::string::npos ||
                           p.type.find("RecurrentOptions") != std::string::npos);
      if (s.name == op && p.type.find("RecurrentWeights") != std::string::npos) {
        found.names.insert({"weight_ih", "weight_hh"});
      }
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

void differentiate(const Tensor& y, const Tensors& inputs) {
  Tensors wanted;
  for (const Tensor& x : inputs) {
    if (x.requires_grad()) wanted.push_back(x);
  }
  GradOptions o;
  o.upstream = ones(y.shape(), y.dtype());
  o.allow_unused = true;
  (void)grad(y, wanted, o);
}

// An input with other sizes, fewer and more axes, and of every other dtype.
std::vector<InputSpec> changes(const InputSpec& own) {
  std::vector<InputSpec> all;
  const auto add = [&](const Shape& shape) {
    all.push_back(own);
    all.back().shape = shape;
    all.back().values = {};
  };
  for (const Shape& s : {Shape(), Shape::filled(kMaxRank, 1), Shape::filled(kMaxRank, 2)}) add(s);
  for (int d = 0; d < own.shape.rank(); ++d) {
    Shape longer = own.shape, none = own.shape, fewer = own.shape;
    longer[d] += 1;
    none[d] = 0;
    fewer.erase(d);
    for (const Shape& s : {longer, none, fewer}) add(s);
  }
  Shape more = own.shape;
  more.insert(0, 7);
  add(more);
  for (DType t : {boolean, i64, f64}) {
    if (t == own.dtype) continue;
    all.push_back(cases::integers(own.shape, 0, 2).no_grad());
    all.back().dtype = t;
  }
  return all;
}

// Such a call is legal, with a gradient where the row has one; or it is refused in the form above,
// by the operation itself and not by one it is made of, with the sizes of the wrong input.
TEST(Messages, OfInputsChangedInEveryWay) {
  for (const OpCase& row : cases::table()) {
    if (calls_another(row)) continue;
    for (size_t k = 0; k < row.inputs.size(); ++k) {
      for (const InputSpec& spec : changes(row.inputs[k])) {
        std::vector<InputSpec> specs = row.inputs;
        specs[k] = spec;
        const Tensors inputs = cases::make_inputs(specs, f32, 1);
        const std::string shape = spec.shape.str(), dtype(fovea::name(inputs[k].dtype()));
        SCOPED_TRACE(fmt::format("{}, input {} {} {}", row.id(), k, dtype, shape));
        Tensor y;
        try {
          y = row.f(inputs);
        } catch (const ShapeError& e) {
          EXPECT_EQ(cases::complaint(row.name, {shape}, e.what()), "");
        } catch (const DTypeError& e) {
          EXPECT_EQ(cases::complaint(row.name, {dtype}, e.what()), "");
        } catch (const Error& e) {
          EXPECT_EQ(cases::complaint(row.name, {}, e.what()), "");
        } catch (const std::out_of_range&) {
          // of several results, the row reads one that there is no more
        }
        if (y.requires_grad()) {
          EXPECT_NO_THROW(differentiate(y, inputs));
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
