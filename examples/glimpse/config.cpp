#include "examples/glimpse/config.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "fovea/core/error.h"

namespace fovea::glimpse {
namespace {

constexpr const char* kProgram = "glimpse";

// f(name, a, b) for every field of two configurations.
template <class A, class B, class F>
void each_field(A& a, B& b, F&& f) {
  f("data", a.data, b.data);
  f("dataset", a.dataset, b.dataset);
  f("glimpses", a.glimpses, b.glimpses);
  f("patch", a.patch, b.patch);
  f("scales", a.scales, b.scales);
  f("hidden", a.hidden, b.hidden);
  f("std", a.std, b.std);
  f("start", a.start, b.start);
  f("seed", a.seed, b.seed);
  f("epochs", a.epochs, b.epochs);
  f("batch", a.batch, b.batch);
  f("lr", a.lr, b.lr);
  f("schedule", a.schedule, b.schedule);
  f("policy-weight", a.policy_weight, b.policy_weight);
  f("clip", a.clip, b.clip);
  f("location_lr", a.location_lr, b.location_lr);
  f("duplicates", a.duplicates, b.duplicates);
  f("mc-samples", a.mc_samples, b.mc_samples);
}

bool may_change(const std::string& name) {
  return name == "data" || name == "epochs" || name == "mc-samples";
}

}  // namespace

ModelOptions Config::model() const {
  return {.retina = {.patch = patch, .scales = scales},
          .glimpses = glimpses,
          .hidden = hidden,
          .classes = 10,
          .std = std,
          .start = start == "centre" ? Start::centre : Start::uniform};
}

std::map<std::string, std::string> to_metadata(const Config& c) {
  nlohmann::ordered_json flags;
  each_field(c, c,
             [&flags](const char* name, const auto& value, const auto&) { flags[name] = value; });
  return {{"program", kProgram}, {"flags", flags.dump()}};
}

Config from_metadata(const std::map<std::string, std::string>& metadata, const std::string& path) {
  const auto program = metadata.find("program"), flags = metadata.find("flags");
  if (program == metadata.end() || program->second != kProgram || flags == metadata.end()) {
    throw IoError(
        fmt::format("{} was not written by this program; name a checkpoint.safetensors", path));
  }
  Config c;
  try {
    const auto json = nlohmann::json::parse(flags->second);
    each_field(c, c,
               [&json](const char* name, auto& value, auto&) { json.at(name).get_to(value); });
  } catch (const nlohmann::json::exception& e) {
    throw IoError(fmt::format("{}: its flags cannot be read: {}", path, e.what()));
  }
  return c;
}

std::string conflict(const Config& now, const Config& before) {
  std::string found;
  each_field(now, before, [&found](const char* name, const auto& a, const auto& b) {
    if (found.empty() && !(a == b) && !may_change(name)) {
      found = fmt::format("--{} is {}, was {}", name, a, b);
    }
  });
  return found;
}

}  // namespace fovea::glimpse
