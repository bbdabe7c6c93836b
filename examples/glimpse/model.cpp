#include "examples/glimpse/model.h"

#include <fmt/format.h>

#include "fovea/core/error.h"
#include "fovea/nn/distributions.h"
#include "fovea/ops/ops.h"

namespace fovea::glimpse {
namespace {

constexpr int64_t kHalf = 128;  // G

}  // namespace

GlimpseNetwork::GlimpseNetwork(const ModelOptions& o)
    : pixel_mean(zeros({})),
      pixel_std(ones({})),
      what(o.retina.size(), kHalf),
      where(2, kHalf),
      what_to(kHalf, o.hidden),
      where_to(kHalf, o.hidden) {}

Tensor GlimpseNetwork::operator()(const Tensor& seen, const Tensor& location) const {
  return relu(what_to(relu(what((seen - pixel_mean) / pixel_std))) +
              where_to(relu(where(location))));
}

void GlimpseNetwork::visit(Visitor& v) {
  v.buffer("pixel_mean", pixel_mean);
  v.buffer("pixel_std", pixel_std);
  v("what", what);
  v("where", where);
  v("what_to", what_to);
  v("where_to", where_to);
}

Core::Core(const ModelOptions& o) : memory(o.hidden, o.hidden), input(o.hidden, o.hidden) {
  const NoGrad scope;
  memory.weight.copy_(eye(o.hidden));
  memory.bias.zero_();
}

Tensor Core::operator()(const Tensor& h, const Tensor& g) const {
  return relu(h.defined() ? memory(h) + input(g) : memory.bias + input(g));
}

void Core::visit(Visitor& v) {
  v("memory", memory);
  v("input", input);
}

LocationNetwork::LocationNetwork(const ModelOptions& o) : hidden(o.hidden, kHalf), mean(kHalf, 2) {}

Tensor LocationNetwork::operator()(const Tensor& h) const {
  return tanh(mean(relu(hidden(h.detach()))));
}

void LocationNetwork::visit(Visitor& v) {
  v("hidden", hidden);
  v("mean", mean);
}

RecurrentAttention::RecurrentAttention(const ModelOptions& o)
    : o_(o),
      glimpse_(o),
      core_(o),
      location_(o),
      action_(o.hidden, o.classes),
      baseline_(o.hidden, 1) {
  if (o.glimpses < 1 || o.retina.patch < 1 || o.retina.scales < 1 || !(o.std >= 0)) {
    throw ValueError(fmt::format(
        "RecurrentAttention: glimpses = {}, patch = {}, scales = {}, std = {}; need 1 or more, and "
        "a std that is not negative",
        o.glimpses, o.retina.patch, o.retina.scales, o.std));
  }
}

Episode RecurrentAttention::look(const Tensor& images, Generator& g) const {
  Episode e;
  Tensor h;
  Tensors means, samples, hidden;
  const Shape places{images.size(0), 2};
  Tensor location = o_.start == Start::uniform ? uniform(places, -1, 1, f32, &g) : zeros(places);
  for (int64_t t = 0;; ++t) {
    e.locations.push_back(location);
    h = core_(h, glimpse_(see(images, location, o_.retina), location));
    if (t + 1 == o_.glimpses) break;
    hidden.push_back(h.detach());
    means.push_back(location_(h));
    const NoGrad scope;  // the sample is a constant: see Normal::sample
    samples.push_back(means.back() + o_.std * randn_like(means.back(), &g));
    location = clamp(samples.back(), -1, 1);
  }
  e.log_probs = log_softmax(action_(h));
  if (!means.empty()) {
    e.mean = stack(means);
    e.sample = stack(samples);
    e.baseline = squeeze(baseline_(stack(hidden)), -1);
  }
  return e;
}

void RecurrentAttention::measure(const Tensor& images) {
  const NoGrad scope;
  glimpse_.pixel_mean.copy_(mean(images));
  // Images of one grey alone have nothing to scale.
  const Tensor spread = std(images, {}, 0);
  glimpse_.pixel_std.copy_(where(spread > 0, spread, ones({})));
}

void RecurrentAttention::visit(Visitor& v) {
  v("glimpse", glimpse_);
  v("core", core_);
  v("location", location_);
  v("action", action_);
  v("baseline", baseline_);
}

HybridLoss hybrid_loss(const Episode& e, const Tensor& labels, const LossOptions& o) {
  HybridLoss loss;
  loss.action = nll_loss(e.log_probs, labels);
  loss.reward = (argmax(e.log_probs, -1) == labels).to(f32);
  loss.total = loss.action;
  if (!e.mean.defined()) return loss;
  // (T-1, B) against R (B): every choice of an episode earns the same reward.
  const Tensor advantage = loss.reward - e.baseline.detach();
  const Tensor log_pi = sum(Normal(e.mean, full({}, o.std)).log_prob(e.sample), -1);
  const auto batch = static_cast<double>(labels.numel());
  loss.policy = sum(log_pi * advantage) * (-1 / batch);
  loss.baseline = mse_loss(e.baseline, loss.reward.expand_as(e.baseline));
  loss.total = loss.action + loss.baseline + o.policy_weight * loss.policy;
  return loss;
}

}  // namespace fovea::glimpse
