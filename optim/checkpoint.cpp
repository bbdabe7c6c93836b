#include "fovea/optim/checkpoint.h"

#include <fmt/format.h>

#include <bit>
#include <unordered_set>

#include "fovea/core/error.h"
#include "fovea/io/safetensors.h"
#include "fovea/nn/detail/numbers.h"
#include "fovea/ops/ops.h"

namespace fovea {
namespace {

constexpr const char* kGenerator = "generator";
constexpr const char* kProgress = "progress";

void check_name(std::unordered_set<std::string>& seen, const std::string& name, const void* p) {
  const bool reserved = name == kGenerator || name == kProgress;
  if (name.empty() || name.find('.') != std::string::npos || reserved ||
      !seen.insert(name).second) {
    throw ValueError(fmt::format(
        "checkpoint: `{}` cannot name a part: names are not empty, hold no dot, occur once, and "
        "are neither `generator` nor `progress`",
        name));
  }
  if (!p) throw ValueError(fmt::format("checkpoint: part `{}` is a null pointer", name));
}

void check_names(const TrainingRun& run) {
  std::unordered_set<std::string> parts;
  for (const auto& [name, part] : run.parts) check_name(parts, name, part);
  std::unordered_set<std::string> generators{"default"};
  for (const auto& [name, g] : run.generators) check_name(generators, name, g);
}

NamedTensors generator_state(const TrainingRun& run) {
  NamedTensors list;
  const auto add = [&list](const std::string& name, const Generator& g) {
    const RandomKey key = g.state();
    list.emplace_back(
        name, from_vector<int64_t>(
                  {std::bit_cast<int64_t>(key.seed), std::bit_cast<int64_t>(key.stream)}, {2}));
  };
  add("default", default_generator());
  for (const auto& [name, g] : run.generators) add(name, *g);
  return list;
}

void assign_generators(TrainingRun& run, const NamedTensors& given) {
  const auto set = [&given](const std::string& name, Generator& g) {
    const auto v = find(given, name).to_vector<int64_t>();
    g.set_state({std::bit_cast<uint64_t>(v[0]), std::bit_cast<uint64_t>(v[1])});
  };
  set("default", default_generator());
  for (auto& [name, g] : run.generators) set(name, *g);
}

NamedTensors progress_state(const Progress& p) {
  return {{"epoch", full({}, p.epoch, i64)},
          {"step", full({}, p.step, i64)},
          {"position", full({}, p.position, i64)}};
}

void append(NamedTensors& list, const std::string& prefix, NamedTensors part) {
  for (auto& [name, t] : part) list.emplace_back(prefix + "." + name, std::move(t));
}

// Takes the tensors called "PREFIX.NAME" out of the list.
NamedTensors take(NamedTensors& list, const std::string& prefix) {
  NamedTensors part, rest;
  for (auto& [name, t] : list) {
    if (name.size() > prefix.size() && name.starts_with(prefix) && name[prefix.size()] == '.') {
      part.emplace_back(name.substr(prefix.size() + 1), std::move(t));
    } else {
      rest.emplace_back(std::move(name), std::move(t));
    }
  }
  list = std::move(rest);
  return part;
}

void check_fit(const std::string& path, const StateDiff& diff) {
  if (diff.ok()) return;
  throw IoError(
      fmt::format("checkpoint: {} does not fit this run: {}; use the flags it was saved with", path,
                  diff.str()));
}

}  // namespace

void save_checkpoint(const std::string& path, const TrainingRun& run) {
  check_names(run);
  TensorMap file;
  for (const auto& [name, part] : run.parts) append(file.tensors, name, part->state());
  append(file.tensors, kGenerator, generator_state(run));
  append(file.tensors, kProgress, progress_state(run.progress));
  file.metadata = run.metadata;
  write_safetensors(path, file);
}

void load_checkpoint(const std::string& path, TrainingRun& run) {
  check_names(run);
  TensorMap file = read_safetensors(path);
  StateDiff diff;
  std::vector<NamedTensors> given;
  for (const auto& [name, part] : run.parts) {
    given.push_back(take(file.tensors, name));
    diff.add(name + ".", part->check_state(given.back()));
  }
  const NamedTensors generators = take(file.tensors, kGenerator);
  diff.add("generator.", compare_states(generator_state(run), generators));
  const NamedTensors progress = take(file.tensors, kProgress);
  StateDiff counts = compare_states(progress_state({}), progress);
  for (const char* name : {"epoch", "step", "position"}) {
    detail::check_count(counts, progress, name);
  }
  diff.add("progress.", counts);
  for (const auto& [name, t] : file.tensors) diff.extra.push_back(name);
  check_fit(path, diff);

  for (size_t i = 0; i < run.parts.size(); ++i) run.parts[i].second->assign_state(given[i]);
  assign_generators(run, generators);
  run.progress = {find(progress, "epoch").item<int64_t>(), find(progress, "step").item<int64_t>(),
                  find(progress, "position").item<int64_t>()};
  run.metadata = std::move(file.metadata);
}

void load_part(const std::string& path, const std::string& part, Stateful& to) {
  TensorMap file = read_safetensors(path);
  const NamedTensors given = take(file.tensors, part);
  StateDiff diff;
  diff.add(part + ".", to.check_state(given));
  check_fit(path, diff);
  to.assign_state(given);
}

}  // namespace fovea
