#!/usr/bin/env bash
# Builds everything with warnings as errors, runs every test, and ends with "N passed, N failed".
# Arguments are passed on to ctest: scripts/test.sh -R consumer
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

reports=build/test-reports

step "dependencies" bash scripts/install_deps.sh
step "configure" configure -DFOVEA_WERROR=ON -DFOVEA_BUILD_TESTS=ON -DFOVEA_BUILD_EXAMPLES=ON -DFOVEA_BUILD_BENCH=ON
step "build" build all
build_seconds="$step_seconds"

rm -rf "$reports"
mkdir -p "$reports"
ctest_status=0
run_tests() {
  ctest --test-dir build --parallel "$jobs" --output-on-failure --no-tests=error \
    --output-junit "$root/$reports/ctest.xml" "$@" || ctest_status=$?
}
step "tests" run_tests "$@"
test_seconds="$step_seconds"

# Each shard of fovea_tests leaves a report whose first element carries its totals. A shard that
# ran and left none died on the way: that is a failure. The other entries of ctest count as one
# test each.
count() { { grep -ohE "$@" 2>/dev/null || true; } | wc -l; }
total_of() {
  { grep -ohE "^<testsuites [^>]*" "$reports"/shard-*.xml 2>/dev/null || true; } |
    sed -nE "s/.* $1=\"([0-9]+)\".*/\1/p" | awk '{ n += $1 } END { print n + 0 }'
}

failed=$(($(total_of failures) + $(total_of errors)))
skipped="$(count 'result="(skipped|suppressed)"' "$reports"/shard-*.xml)"
passed=$(($(total_of tests) - failed - skipped))

shard='<testcase name="fovea_tests\.[^>]*'
entry='<testcase name=[^>]*'
ran=' status="run"'  # what ctest writes for an entry that passed
ctest_xml="$reports/ctest.xml"

shards="$(count "$shard" "$ctest_xml")"
failed=$((failed + shards - $(find "$reports" -name 'shard-*.xml' | wc -l)))

others=$(($(count "$entry" "$ctest_xml") - shards))
others_passed=$(($(count "$entry$ran" "$ctest_xml") - $(count "$shard$ran" "$ctest_xml")))
passed=$((passed + others_passed))
failed=$((failed + others - others_passed))

# Whatever the reports say, a run that ctest calls failed, or that ran nothing, has failed.
if ((ctest_status != 0 && failed == 0)); then failed=1; fi
if ((passed + failed == 0)); then failed=1; fi

# What the case table ran, added up over the shards.
pairs="$({ grep -ohE '^[0-9]+ pairs of operation and check' build/Testing/Temporary/LastTest.log 2>/dev/null || true; } |
  awk '{ n += $1 } END { print n + 0 }')"

((skipped == 0)) || echo "$skipped skipped"
((pairs == 0)) || echo "$pairs pairs of operation and check ran"
echo "built in $build_seconds s, tested in $test_seconds s, $SECONDS s in all"
echo "$passed passed, $failed failed"
((failed == 0))
