#include "examples/gpt/corpus.h"

#include <fmt/format.h>

#include <algorithm>

#include "fovea/core/error.h"
#include "fovea/io/file.h"
#include "fovea/io/metrics.h"
#include "fovea/ops/ops.h"

namespace fovea::char_gpt {
namespace {

Windows windows_at(const Tensor& text, const std::vector<int64_t>& starts, int64_t context) {
  const auto batch = static_cast<int64_t>(starts.size());
  Windows w{Tensor::empty({batch, context}, i64), Tensor::empty({batch, context}, i64)};
  for (int64_t b = 0; b < batch; ++b) {
    const int64_t* from = text.data<int64_t>() + starts[static_cast<size_t>(b)];
    std::copy(from, from + context, w.ids.data<int64_t>() + b * context);
    std::copy(from + 1, from + 1 + context, w.next.data<int64_t>() + b * context);
  }
  return w;
}

}  // namespace

Corpus Corpus::read(const std::string& path, int64_t context) {
  const std::string text = read_file(path);
  Corpus c{Characters(text, "'" + path + "'"), {}, {}};
  const Tensor all = c.characters.encode(text);
  const int64_t n = all.numel() * 9 / 10;
  if (std::min(n, all.numel() - n) <= context) {
    throw IoError(fmt::format(
        "'{}' has {} characters; --context {} needs at least {}, as a tenth is held out", path,
        all.numel(), context, 10 * (context + 1)));
  }
  c.train = all.narrow(0, 0, n).contiguous();
  c.valid = all.narrow(0, n, all.numel() - n).contiguous();
  return c;
}

WindowOrder::WindowOrder(const Tensor& text, int64_t batch, int64_t context, uint64_t seed)
    : text_(text),
      batch_(batch),
      context_(context),
      count_((text.numel() - context) / context),
      seed_(seed) {}

void WindowOrder::begin_pass(int64_t pass) {
  Generator g;
  g.set_state({seed_, static_cast<uint64_t>(2 * pass)});
  offset_ = randint(0, context_, {1}, &g).item<int64_t>();
  order_ = randperm(count_, &g).to_vector<int64_t>();
  pass_ = pass;
}

Windows WindowOrder::at(int64_t step) {
  std::vector<int64_t> starts;
  for (int64_t b = 0; b < batch_; ++b) {
    const int64_t n = step * batch_ + b;
    if (n / count_ != pass_) begin_pass(n / count_);
    starts.push_back(offset_ + order_[static_cast<size_t>(n % count_)] * context_);
  }
  return windows_at(text_, starts, context_);
}

double text_loss(const GPT& model, const Tensor& text, int64_t most) {
  constexpr int64_t kBatch = 32;
  const NoGrad scope;
  const int64_t context = model.context();
  int64_t count = (text.numel() - 1) / context;
  if (most > 0) count = std::min(count, most);
  Mean loss;
  for (int64_t first = 0; first < count; first += kBatch) {
    std::vector<int64_t> starts;
    for (int64_t i = first; i < std::min(count, first + kBatch); ++i) starts.push_back(i * context);
    const Windows w = windows_at(text, starts, context);
    const auto n = static_cast<int64_t>(starts.size());
    loss.add(cross_entropy(model(w.ids), w.next).item() * static_cast<double>(n), n);
  }
  return loss.value();
}

}  // namespace fovea::char_gpt
