#!/usr/bin/env bash
# Builds the benchmarks and runs them one after another.
# Arguments are passed on: scripts/bench.sh --benchmark_filter=softmax
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

step "dependencies" bash scripts/install_deps.sh
step "configure" configure -DFOVEA_BUILD_BENCH=ON
step "build" build benchmarks

programs=0
for source in bench/*.cpp; do
  [[ -e "$source" ]] || die "bench.sh: no benchmark in bench/"
  name="$(basename "$source" .cpp)"
  step "bench_${name#bench_}" "build/bin/bench_${name#bench_}" "$@"
  programs=$((programs + 1))
done
echo "$programs programs, $SECONDS s in all"
