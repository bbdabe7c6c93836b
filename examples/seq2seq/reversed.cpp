// Letters in reverse: nothing to know, all to remember. What a single vector can hold shows at
// once.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "examples/seq2seq/dataset.h"
#include "fovea/ops/ops.h"

namespace fovea::seq2seq {

Dataset load_reversed(const Config& c) {
  Generator g(c.seed);
  const Tensor lengths = randint(c.shortest, c.longest + 1, {c.samples}, &g);
  const Tensor letters = randint(0, 26, {c.samples, c.longest}, &g);
  std::set<std::vector<std::string>> seen;
  std::vector<Sample> samples;
  for (int64_t i = 0; i < c.samples; ++i) {
    Sample s{{}, {{}}, {}};
    for (int64_t t = 0; t < lengths.data<int64_t>()[i]; ++t) {
      const int64_t letter = letters.data<int64_t>()[i * c.longest + t];
      s.source.emplace_back(1, static_cast<char>('a' + letter));
    }
    if (!seen.insert(s.source).second) continue;
    s.targets[0].assign(s.source.rbegin(), s.source.rend());
    for (size_t t = s.source.size(); t-- > 0;) s.copied.push_back(static_cast<int64_t>(t));
    samples.push_back(std::move(s));
  }
  Dataset d = make_dataset(samples);
  d.report = fmt::format("{} strings of {} to {} letters", samples.size(), c.shortest, c.longest);
  return d;
}

}  // namespace fovea::seq2seq
