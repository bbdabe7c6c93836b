// Methods of Tensor whose name is not that of a function, and changes in place.
#include "tests/messages/refusals.h"

namespace fovea::messages {

std::vector<Refusal> of_methods() {
  const Tensor none;
  const auto x = [] { return floats({2, 3}); };
  const auto leaf = [] { return floats({2}).requires_grad_(); };
  return {
      {"mm", kShape, {"a is [2, 3]", "b is [2, 3]"}, [x] { return x().mm(x()); }},
      {"mm",
       kShape,
       {"a is [1, 2, 3]"},
       [] {
         return floats({1, 2, 3}).mm(floats({3, 2}));
       }},
      {"mm", kShape, {"b is an undefined"}, [x, none] { return x().mm(none); }},
      {"bmm", kShape, {"a is [2, 3]", "b is [2, 3]"}, [x] { return x().bmm(x()); }},
      {"t",
       kShape,
       {"x is [1, 2, 3]"},
       [] {
         return floats({1, 2, 3}).t();
       }},
      {"t", kShape, {"x is an undefined"}, [none] { return none.t(); }},
      {"transpose", kIndex, {"axis -2"}, [] { return floats({3}).mT(); }},
      {"expand_as", kShape, {"o is an undefined"}, [x, none] { return x().expand_as(none); }},
      {"contiguous", kShape, {"x is an undefined"}, [none] { return none.contiguous(); }},
      {"argmax", kShape, {"x is an undefined"}, [none] { return none.argmax(); }},
      {"sum", kShape, {"x is an undefined"}, [none] { return none.sum(); }},
      {"softmax", kIndex, {"axis 2", "use -2 to 1"}, [x] { return x().softmax(2); }},

      {"add_", kShape, {"x is [2, 3]", "o is [4]"}, [x] { x().add_(floats({4})); }},
      {"sub_", kShape, {"x is [3]", "cannot grow", "o is [2, 3]"}, [x] { floats({3}).sub_(x()); }},
      {"mul_", kShape, {"o is an undefined"}, [x, none] { x() *= none; }},
      {"div_", kDType, {"x is i64 [2]", "f32"}, [] { integers({2}).div_(2); }},
      {"add_", kDType, {"x is f32 [2]", "f64"}, [] { floats({2}) += doubles({2}); }},
      {"add_", kGraph, {"x [2]", "leaf"}, [leaf] { leaf().add_(1); }},
      {"fill_", kGraph, {"x [2]", "leaf"}, [leaf] { leaf().fill_(1); }},
      {"copy_", kGraph, {"x [2]", "leaf"}, [leaf] { leaf().copy_(floats({2})); }},
      {"mul_",
       kGraph,
       {"x [2, 3]", "share memory"},
       [] {
         floats({1, 3}).expand({2, 3}).mul_(2);
       }},
      {"mul_",
       kGraph,
       {"view", "x [2]"},
       [leaf] {
         const Tensor y = leaf() * 2, part = y[0];
         y.mul_(2);
       }},
      {"zero_", kShape, {"x is an undefined"}, [none] { none.zero_(); }},
      {"fill_", kValue, {"nan", "i64"}, [] { integers({2}).fill_(kNaN); }},
      {"copy_", kShape, {"x is [2]", "o is [3]"}, [] { floats({2}).copy_(floats({3})); }},
  };
}

}  // namespace fovea::messages
