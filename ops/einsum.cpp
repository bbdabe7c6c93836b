// einsum: sums of products, named by letters.
//
//     einsum("bqd,bkd->bqk", {q, k})     scores
//     einsum("ii->", {a})                the trace: a repeated letter walks the diagonal
//     einsum("...ij,...jk", {a, b})      an ellipsis stands for any leading axes
//
// Without an arrow the letters that occur once are kept, in alphabetical order.
//
// Operands are taken in pairs from the left. Letters that neither the result nor a later operand
// needs are summed: before the product when only one of the two has them, else as the inner axis of
// one batched matmul. So the gradient is that of matmul, reshape and sum, to any order.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <string>

#include "fovea/ops/internal.h"

namespace fovea {
namespace {

// A tensor whose axes have names; ellipsis axes are named by digits-like characters below 'A'.
struct Term {
  Tensor t;
  std::string letters;
};

bool has(const std::string& s, char c) { return s.find(c) != std::string::npos; }

// An equation and what it is used on, for messages.
struct Equation {
  const std::string& text;
  const Tensors& operands;

  [[noreturn]] void refuse(const std::string& why, const std::string& need) const {
    std::string shapes;
    for (const Tensor& x : operands) shapes += (shapes.empty() ? "" : ", ") + x.shape().str();
    throw ShapeError(
        fmt::format("einsum: equation \"{}\": {}: operands are {}; {}", text, why, shapes, need));
  }
};

constexpr char kFirstEllipsis = 1;  // axes under the ellipsis are called \1, \2, ... from the left

// "b...d" with `rank` axes and the widest ellipsis of all operands -> one character an axis.
std::string axis_names(const Equation& equation, const std::string& part, int rank, int widest) {
  std::string letters;
  const size_t dots = part.find("...");
  for (size_t i = 0; i < part.size(); ++i) {
    if (i == dots) {
      const int covered = rank - static_cast<int>(part.size() - 3);
      if (covered < 0) {
        equation.refuse(fmt::format("\"{}\" does not fit {} axes", part, rank),
                        "use one letter an axis");
      }
      for (int k = widest - covered; k < widest; ++k)
        letters += static_cast<char>(kFirstEllipsis + k);
      i += 2;
    } else if (std::isalpha(static_cast<unsigned char>(part[i]))) {
      letters += part[i];
    } else {
      equation.refuse(fmt::format("'{}' is no letter", part[i]),
                      "use letters, one \"...\" an operand, commas and \"->\"");
    }
  }
  return letters;
}

// Keeps one axis a letter: a repeated one becomes the diagonal, a view.
Term diagonal(const Equation& equation, Term term) {
  for (size_t i = 0; i < term.letters.size(); ++i) {
    const size_t j = term.letters.find(term.letters[i], i + 1);
    if (j == std::string::npos) continue;
    const int64_t n = term.t.shape()[static_cast<int>(i)];
    if (n != term.t.shape()[static_cast<int>(j)]) {
      equation.refuse(fmt::format("letter '{}' has sizes {} and {} in one operand", term.letters[i],
                                  n, term.t.shape()[static_cast<int>(j)]),
                      "a diagonal needs equal sizes");
    }
    // Both axes last, flattened: the diagonal is every (n + 1)-th element.
    Shape order;
    for (int d = 0; d < term.t.dim(); ++d) {
      if (d != static_cast<int>(i) && d != static_cast<int>(j)) order.push_back(d);
    }
    order.push_back(static_cast<int64_t>(i));
    order.push_back(static_cast<int64_t>(j));
    Tensor flat = flatten(permute(term.t, order), -2, -1);
    flat = n > 0 ? slice(flat, -1, 0, kEnd, n + 1) : flat;
    const char c = term.letters[i];
    term.letters.erase(j, 1);
    term.letters.erase(i, 1);
    term.letters += c;
    term.t = flat;
    i = static_cast<size_t>(-1);  // start again
  }
  return term;
}

// Sums the letters of `term` that nothing else needs.
Term sum_letters(Term term, const std::string& needed) {
  Axes gone;
  std::string left;
  for (size_t i = 0; i < term.letters.size(); ++i) {
    if (has(needed, term.letters[i])) {
      left += term.letters[i];
    } else {
      gone.list.push_back(static_cast<int64_t>(i));
    }
  }
  if (!gone.list.empty()) term.t = sum(term.t, gone);
  term.letters = left;
  return term;
}

// The axes in the order of `letters`, which may hold letters that the term lacks: size 1 there.
Tensor arrange(const Term& term, const std::string& letters) {
  Shape order;
  for (char c : letters) {
    const size_t at = term.letters.find(c);
    if (at != std::string::npos) order.push_back(static_cast<int64_t>(at));
  }
  Tensor t = permute(term.t, order);
  for (size_t i = 0; i < letters.size(); ++i) {
    if (!has(term.letters, letters[i])) t = unsqueeze(t, static_cast<int64_t>(i));
  }
  return t;
}

int64_t product(const std::string& letters, const std::map<char, int64_t>& size) {
  int64_t n = 1;
  for (char c : letters) n *= size.at(c);
  return n;
}

// Each letter of an intermediate product is an axis.
void check_letters(const Equation& equation, const std::string& letters) {
  if (letters.size() <= kMaxRank) return;
  equation.refuse(fmt::format("a product has {} axes", letters.size()),
                  fmt::format("the limit is {}, sum some letters first", kMaxRank));
}

// One matmul: letters in both and kept are the batch, in both and not kept the inner axis.
Term contract(const Equation& equation, Term a, Term b, const std::string& needed,
              const std::map<char, int64_t>& size) {
  a = sum_letters(a, needed + b.letters);
  b = sum_letters(b, needed + a.letters);
  std::string batch;
  std::string inner;
  std::string rows;
  std::string cols;
  for (char c : a.letters) (has(b.letters, c) ? (has(needed, c) ? batch : inner) : rows) += c;
  for (char c : b.letters) {
    if (!has(a.letters, c)) cols += c;
  }
  for (const std::string& axes :
       {batch + rows + inner, batch + inner + cols, batch + rows + cols}) {
    check_letters(equation, axes);
  }
  const auto sizes = [&](const std::string& letters) {
    Shape s;
    for (char c : letters) s.push_back(size.at(c));
    return s;
  };
  // An axis of size 1 may stand for a broadcast one: expand before folding axes together.
  const Tensor ta = expand(arrange(a, batch + rows + inner), sizes(batch + rows + inner));
  const Tensor tb = expand(arrange(b, batch + inner + cols), sizes(batch + inner + cols));
  const int64_t nb = product(batch, size);
  const int64_t ni = product(inner, size);
  const Tensor y = matmul(reshape(ta, {nb, product(rows, size), ni}),
                          reshape(tb, {nb, ni, product(cols, size)}));
  return {reshape(y, sizes(batch + rows + cols)), batch + rows + cols};
}

std::vector<std::string> split_commas(const std::string& s) {
  std::vector<std::string> parts(1);
  for (char c : s) {
    if (c == ',') {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

}  // namespace

Tensor einsum(const std::string& written, const Tensors& operands) {
  const Equation equation{written, operands};
  for (size_t i = 0; i < operands.size(); ++i) {
    if (operands[i].defined() && operands[i].is_floating()) continue;
    detail::check_floating("einsum", fmt::format("operands[{}]", i).c_str(), operands[i]);
  }
  std::string text;
  for (char c : written) {
    if (c != ' ') text += c;
  }
  const size_t arrow = text.find("->");
  const auto parts = split_commas(text.substr(0, arrow));
  if (operands.empty() || parts.size() != operands.size()) {
    equation.refuse(fmt::format("names {} operands, {} were given", parts.size(), operands.size()),
                    "name the axes of each, with a comma between them");
  }
  DType dtype = boolean;
  int widest = 0;
  for (size_t i = 0; i < parts.size(); ++i) {
    dtype = promote(dtype, operands[i].dtype());
    const bool dots = parts[i].find("...") != std::string::npos;
    const int named = static_cast<int>(parts[i].size()) - (dots ? 3 : 0);
    if (dots ? named > operands[i].dim() : named != operands[i].dim()) {
      equation.refuse(fmt::format("\"{}\" does not fit operand {}, which is {}", parts[i], i,
                                  operands[i].shape().str()),
                      "use one letter an axis");
    }
    if (dots) widest = std::max(widest, operands[i].dim() - named);
  }

  std::vector<Term> terms;
  std::map<char, int64_t> size;
  std::map<char, int> seen;
  for (size_t i = 0; i < parts.size(); ++i) {
    const std::string names = axis_names(equation, parts[i], operands[i].dim(), widest);
    for (char c : names) ++seen[c];
    terms.push_back(diagonal(equation, {to(operands[i], dtype), names}));
    for (size_t d = 0; d < terms.back().letters.size(); ++d) {
      const char c = terms.back().letters[d];
      const int64_t n = terms.back().t.shape()[static_cast<int>(d)];
      auto [it, fresh] = size.try_emplace(c, n);
      if (fresh || it->second == n) continue;
      if (it->second != 1 && n != 1) {
        equation.refuse(fmt::format("letter '{}' has sizes {} and {}", c, it->second, n),
                        "they must be equal, or one of them 1");
      }
      if (n != 1) it->second = n;
    }
  }

  std::string result;
  if (arrow != std::string::npos) {
    const std::string right = text.substr(arrow + 2);
    const bool dots = right.find("...") != std::string::npos;
    result =
        axis_names(equation, right,
                   static_cast<int>(right.size()) - (dots ? 3 : 0) + (dots ? widest : 0), widest);
    for (char c : result) {
      if (!size.count(c)) {
        equation.refuse(fmt::format("letter '{}' of the result is in no operand", c),
                        "use letters of the operands");
      }
      if (std::count(result.begin(), result.end(), c) > 1) {
        equation.refuse(fmt::format("letter '{}' occurs twice in the result", c),
                        "name each axis once");
      }
    }
  } else {
    for (const auto& [c, n] : seen) {  // sorted; ellipsis axes come first
      if (n == 1 || c < 'A') result += c;
    }
  }

  Term total = terms[0];
  for (size_t i = 1; i < terms.size(); ++i) {
    std::string needed = result;
    for (size_t j = i + 1; j < terms.size(); ++j) needed += terms[j].letters;
    total = contract(equation, std::move(total), terms[i], needed, size);
  }
  total = sum_letters(std::move(total), result);
  const Tensor y = arrange(total, result);
  return terms.size() == 1 ? clone(y) : y;  // outside the storage of the operand
}

}  // namespace fovea
