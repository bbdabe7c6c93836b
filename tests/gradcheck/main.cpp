// Are the gradients right? Checks every operation and layer, and shows the errors.
//
//     gradcheck                          all rows of the case table
//     gradcheck --filter softmax,norm    rows whose name contains one of these
//     gradcheck --filter gelu --verbose  and the entry of the Jacobian that is worst
//     gradcheck --json                   the same for programs
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <set>

#include "examples/common/flags.h"
#include "examples/common/program.h"
#include "fovea/core/parallel.h"
#include "fovea/io/metrics.h"
#include "tests/gradcheck/check.h"

namespace fovea::gradchecks {
namespace {

using cases::OpCase;

struct Arguments {
  std::vector<std::string> filter;
  bool verbose = false;
  bool json = false;
  uint64_t seed = 20240607;
  int threads = 0;
  std::vector<std::string> golden{FOVEA_GOLDEN "/rows.safetensors",
                                  FOVEA_GOLDEN "/attention.safetensors",
                                  FOVEA_GOLDEN "/recurrent_rows.safetensors"};
};

void parse(int argc, char** argv, Arguments& a) {
  examples::Flags flags("Checks the gradients of every operation and layer");
  flags.add("--filter", a.filter, "Only rows whose name contains one of these")
      .type_name("TEXT,...");
  flags.add("--verbose", a.verbose, "Show the worst entry of each Jacobian");
  flags.add("--json", a.json, "Print JSON");
  flags.add("--seed", a.seed, "Of the inputs");
  flags.add("--threads", a.threads, "Threads; 0 for one a processor")
      .check(examples::at_least(0, 1024));
  flags.add("--golden", a.golden, "Numbers of PyTorch to compare with").type_name("FILE,...");
  flags.footer(fmt::format(
      "Columns hold relative errors: of the result against a naive loop (allowed {:.0e}), of the\n"
      "gradient and of the gradient's gradient against central differences in float64 ({:.0e},\n"
      "{:.0e}), of all of them against PyTorch in float64 and float32 ({:.0e}, {:.0e}).\n"
      "Exit code 1 when a row fails.",
      kValueTolerance, kFirstOrderTolerance, kSecondOrderTolerance, kGoldenTolerance,
      kGoldenTolerance32));
  flags.parse(argc, argv);
  if (a.threads > 0) set_threads(a.threads);
}

std::vector<const OpCase*> chosen(const std::vector<std::string>& filter) {
  std::vector<const OpCase*> rows;
  for (const OpCase& row : cases::table()) {
    const std::string id = row.id();
    const bool wanted = std::any_of(filter.begin(), filter.end(), [&](const std::string& text) {
      return id.find(text) != std::string::npos;
    });
    if (wanted || filter.empty()) rows.push_back(&row);
  }
  if (rows.empty()) {
    throw examples::UsageError(
        fmt::format("--filter {}: no row has such a name", fmt::join(filter, ",")));
  }
  return rows;
}

std::string cell(const std::optional<double>& error) {
  if (!error) return "-";
  return *error == 0 ? "0" : fmt::format("{:.1e}", *error);
}

constexpr const char* kLine = "{:<40} {:<32} {:>9} {:>9} {:>9} {:>9} {:>9}  {}\n";

void print(const RowReport& r) {
  fmt::print(kLine, r.id, r.inputs, cell(r.value), cell(r.first), cell(r.second), cell(r.golden),
             cell(r.golden32), r.ok() ? "ok" : "FAIL");
  for (const std::string& c : r.complaints) fmt::print("    {}\n", c);
  if (!r.worst) return;
  fmt::print("    worst: d y{} / d x{}{} is {:.12g}, by differences {:.12g}: error {:.1e}\n",
             r.worst->output.str(), r.worst->input, r.worst->index.str(), r.worst->analytic,
             r.worst->numeric, r.worst->error);
}

std::string json(const RowReport& r) {
  Metrics m;
  m.set("name", r.id);
  m.set("inputs", r.inputs);
  const auto set = [&](const char* key, const std::optional<double>& v) {
    if (v) m.set(key, *v);
  };
  set("value_error", r.value);
  set("first_order_error", r.first);
  set("second_order_error", r.second);
  set("pytorch_f64_error", r.golden);
  set("pytorch_f32_error", r.golden32);
  if (r.worst) {
    m.set("worst_entry", fmt::format("d y{} / d x{}{}", r.worst->output.str(), r.worst->input,
                                     r.worst->index.str()));
    m.set("worst_analytic", r.worst->analytic);
    m.set("worst_numeric", r.worst->numeric);
  }
  if (!r.ok()) m.set("complaint", fmt::format("{}", fmt::join(r.complaints, "; ")));
  m.set("ok", r.ok());
  return m.json();
}

// The largest of one kind of error, and whose it is.
struct Worst {
  double error = 0;
  std::string id;
  int64_t rows = 0;
  void meet(const std::optional<double>& e, const std::string& row) {
    if (!e) return;
    ++rows;
    if (id.empty() || !(*e <= error)) error = *e, id = row;
  }
};

int run(int argc, char** argv) {
  Arguments a;
  parse(argc, argv, a);
  const auto rows = chosen(a.filter);
  const cases::Golden golden(a.golden);
  const auto start = std::chrono::steady_clock::now();
  if (a.json) {
    fmt::print("{{\"rows\": [");
  } else {
    fmt::print(kLine, "row", "inputs", "value", "1st order", "2nd order", "torch f64", "torch f32",
               "");
  }
  Worst first, second, f64_golden, f32_golden;
  int64_t failed = 0;
  std::set<std::string> names;
  for (size_t i = 0; i < rows.size(); ++i) {
    const RowReport r = check_row(*rows[i], golden, a.seed, a.verbose);
    failed += !r.ok();
    names.insert(rows[i]->name);
    first.meet(r.first, r.id);
    second.meet(r.second, r.id);
    f64_golden.meet(r.golden, r.id);
    f32_golden.meet(r.golden32, r.id);
    if (a.json) {
      fmt::print("{}{}", i ? ", " : "", json(r));
    } else {
      print(r);
    }
  }
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (a.json) {
    Metrics m;
    m.set("first_order_error", first.error);
    m.set("second_order_error", second.error);
    m.set("failed", failed);
    m.set("seconds", seconds);
    fmt::print("], \"summary\": {}}}\n", m.json());
    return failed ? examples::kFailed : 0;
  }
  fmt::print("\n{} rows of {} operations and layers in {:.1f} s: {}\n", rows.size(), names.size(),
             seconds, failed ? fmt::format("{} FAILED", failed) : "all pass");
  const auto line = [](const char* what, const Worst& w) {
    if (w.rows) fmt::print("{:<24} {:>4} rows, worst {:.1e} ({})\n", what, w.rows, w.error, w.id);
  };
  line("first-order gradients", first);
  line("second-order gradients", second);
  line("PyTorch, float64", f64_golden);
  line("PyTorch, float32", f32_golden);
  return failed ? examples::kFailed : 0;
}

}  // namespace
}  // namespace fovea::gradchecks

int main(int argc, char** argv) {
  return fovea::examples::run_program(argc, argv, fovea::gradchecks::run);
}
