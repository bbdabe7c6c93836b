#!/usr/bin/env bash
# Feeds damaged files to everything that reads files: scripts/fuzz.sh [SECONDS] [TARGET...]
# Each target of tests/fuzz/targets.h runs for SECONDS, 60 by default, two at a time, starting from
# tests/fuzz/seeds/TARGET and from what earlier runs have reached. Prints a line per target. A
# finding is kept in build-fuzz/findings/TARGET/ and makes the script fail: mend it, and add the
# file to the seeds.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

seconds=60
if [[ "${1:-}" =~ ^[0-9]+$ ]]; then
  seconds="$1"
  shift
fi
mapfile -t known < <(sed -nE 's/^void fuzz_([a-z0-9_]+)\(.*/\1/p' tests/fuzz/targets.h)
targets=("$@")
((${#targets[@]} > 0)) || targets=("${known[@]}")
for target in "${targets[@]}"; do
  [[ " ${known[*]} " == *" $target "* ]] || die "fuzz.sh: no target $target; there are: ${known[*]}"
done
clang="$(command -v clang++-14 || command -v clang++)" || die "fuzz.sh: needs clang"

launcher=()
if command -v ccache > /dev/null; then launcher=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache); fi
step "configure" cmake -S . -B build-fuzz -G Ninja "${launcher[@]}" \
  -DCMAKE_CXX_COMPILER="$clang" -DCMAKE_BUILD_TYPE=RelWithDebInfo \
  "-DCMAKE_CXX_FLAGS_RELWITHDEBINFO=-O1 -g1" \
  -DFOVEA_SANITIZE=fuzzer-no-link,address,undefined -DFOVEA_BUILD_FUZZ=ON \
  -DFOVEA_BUILD_TESTS=OFF -DFOVEA_BUILD_EXAMPLES=OFF -DFOVEA_BUILD_BENCH=OFF
step "build" cmake --build build-fuzz --parallel "$jobs" --target "${targets[@]/#/fuzz_}"

# fuzz TARGET   runs one and prints its line; fails with a finding.
fuzz() {
  local target="$1" corpus="build-fuzz/corpus/$1" found="build-fuzz/findings/$1" log status=0
  log="build-fuzz/$target.log"
  mkdir -p "$corpus" "$found"
  local before runs count
  before="$(find "$found" -type f | wc -l)"
  build-fuzz/bin/fuzz_"$target" -max_total_time="$seconds" -rss_limit_mb=2048 \
    -malloc_limit_mb=1024 -timeout=10 -max_len=8192 -dict=tests/fuzz/tokens.dict \
    -artifact_prefix="$found/" -print_final_stats=1 "$corpus" "tests/fuzz/seeds/$target" \
    > "$log" 2>&1 || status=$?
  runs="$(sed -nE 's/^stat::number_of_executed_units: *([0-9]+)/\1/p' "$log")"
  count=$(($(find "$found" -type f | wc -l) - before))
  # A target that could not run has no file to show.
  if ((status != 0 && count == 0)); then count=1; fi
  printf '%-12s %10s runs in %4d s, %d findings%s\n' "$target" "${runs:-0}" "$seconds" "$count" \
    "$( ((count == 0)) || echo "; see $log")"
  ((count == 0))
}

status=0
running=()
for target in "${targets[@]}"; do
  fuzz "$target" &
  running+=($!)
  if ((${#running[@]} == 2)); then
    wait "${running[0]}" || status=1
    running=("${running[@]:1}")
  fi
done
for pid in "${running[@]}"; do wait "$pid" || status=1; done
exit "$status"
