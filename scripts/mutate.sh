#!/usr/bin/env bash
# Plants the faults of scripts/mutants/ one at a time, rebuilds, runs the tests, and requires that
# they fail for every one. Works in a copy of the tree, build/mutants/tree: an interruption leaves
# no fault in the sources. The first run builds the copy; after that a fault takes seconds, and one
# that survives as long as the tests.
#
#   scripts/mutate.sh                every fault
#   scripts/mutate.sh --only REGEX   those whose id matches
#   scripts/mutate.sh --list         prints them
#
# A list holds entries of this form; `-` and `+` lines are a piece of the file and what replaces it:
#
#   == id: what the fault is
#   file ops/softmax.cpp
#   first *softmax*                  tests to run before all others, as --gtest_filter takes them
#   - y * (gy - sum(y * gy, -1, keepdim))
#   + y * gy
#
# The piece occurs once in the file, unless a line `at 2` says which occurrence is meant.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

work="$root/build/mutants"
tree="$work/tree"
logs="$work/logs"
tests="$tree/build/bin/fovea_tests"

ids=() whats=() files=() firsts=() ats=() olds=() news=()

# read_list FILE   appends its entries to the arrays.
read_list() {
  local line last=-1
  while IFS= read -r line || [[ -n "$line" ]]; do
    case "$line" in
      '' | '#'*) ;;
      '== '*': '*)
        last="${#ids[@]}"
        line="${line#== }"
        ids+=("${line%%: *}") whats+=("${line#*: }")
        files+=('') firsts+=('*') ats+=(0) olds+=('') news+=('')
        ;;
      'file '*) files[last]="${line#file }" ;;
      'first '*) firsts[last]="${line#first }" ;;
      'at '*) ats[last]="${line#at }" ;;
      '-'*) olds[last]+="${olds[last]:+$'\n'}${line:2}" ;;
      '+'*) news[last]+="${news[last]:+$'\n'}${line:2}" ;;
      *) die "$1: cannot read the line: $line" ;;
    esac
  done <"$1"
}

# occurrences FILE TEXT
occurrences() { TEXT="$2" perl -0777 -ne '$n = () = /\Q$ENV{TEXT}\E/g; print $n' "$1"; }

# check I   dies unless entry I fits its file; sets ats[I] to the occurrence that is meant.
check() {
  local id="${ids[$1]}" file="${files[$1]}" at="${ats[$1]}" n
  [[ -f "$file" ]] || die "$id: there is no file \`$file\`"
  [[ -n "${olds[$1]}" ]] || die "$id: it has no line of old text"
  [[ "${olds[$1]}" != "${news[$1]}" ]] || die "$id: the new text is the old"
  n="$(occurrences "$file" "${olds[$1]}")"
  ((n > 0)) || die "$id: its old text is no longer in $file; follow the source, or replace the fault"
  ((at > 0 || n == 1)) || die "$id: its old text is $n times in $file; take more of it, or add \`at N\`"
  ((at <= n)) || die "$id: \`at $at\`, but its old text is $n times in $file"
  ((at > 0)) || ats[$1]=1
}

# plant I   writes entry I into the copy.
plant() {
  OLD="${olds[$1]}" NEW="${news[$1]}" AT="${ats[$1]}" perl -0777 -pi -e '
    $i = 0; s/\Q$ENV{OLD}\E/++$i == $ENV{AT} ? $ENV{NEW} : $&/ge' "$tree/${files[$1]}"
}

sources() {
  (cd "$1" && find . \( -path './build*' -o -path ./out -o -path ./.git -o -path ./.cache \) \
    -prune -o -type f -print0)
}

# Makes the copy equal to the tree. Only what differs is written, so that little is rebuilt.
copy_tree() {
  local file
  mkdir -p "$tree"
  while IFS= read -r -d '' file; do
    cmp -s "$file" "$tree/$file" && continue
    mkdir -p "$(dirname "$tree/$file")"
    cp "$file" "$tree/$file"
  done < <(sources "$root")
  while IFS= read -r -d '' file; do
    [[ -e "$file" ]] || rm "$tree/$file"
  done < <(sources "$tree")
}

configure_copy() {
  (cd "$tree" && configure -DFOVEA_WERROR=OFF -DFOVEA_BUILD_TESTS=ON -DFOVEA_BUILD_EXAMPLES=OFF \
    -DFOVEA_BUILD_BENCH=OFF -DFOVEA_UNITY=OFF)  # a fault costs the compiling of one file
}
build_copy() { (cd "$tree" && build fovea_tests); }

# run_tests LIMIT FILTER   stops at the first failure, and after LIMIT seconds.
run_tests() { timeout --kill-after=5 "$1" "$tests" --gtest_fail_fast --gtest_filter="$2"; }

# failed_test LOG   the first test that failed, or else the one that was running at the end.
failed_test() {
  sed -nE '/^\[  FAILED  \] [^ ]+\.[^ ]/ { s/^\[  FAILED  \] ([^ ,]+).*/\1/p; q }' "$1" | grep . ||
    sed -nE 's/^\[ RUN      \] //p' "$1" | tail -n 1
}

# try I   plants entry I and sets $verdict.
try() {
  local id="${ids[$1]}" log="$logs/${ids[$1]}.log" filter status
  plant "$1"
  if ! build_copy >"$log" 2>&1; then
    verdict="DOES NOT COMPILE, see $log"
    return
  fi
  for filter in "${firsts[$1]}" '*'; do
    status=0
    run_tests "$limit" "$filter" >"$log" 2>&1 || status=$?
    ((status == 0)) || break
    [[ "$filter" != '*' ]] || break
  done
  case "$status" in
    0) verdict=SURVIVED ;;
    1) verdict="caught by $(failed_test "$log")" ;;
    124 | 137) verdict="caught by a hang in $(failed_test "$log")" ;;
    *) verdict="caught by a crash in $(failed_test "$log")" ;;
  esac
}

only='.'
list=0
while (($# > 0)); do
  case "$1" in
    --list) list=1 ;;
    --only)
      [[ -n "${2:-}" ]] || die "--only: give a regular expression for the ids"
      only="$2"
      shift
      ;;
    --help)
      sed -n '2,/^set /{ /^#/s/^# \{0,1\}//p }' "${BASH_SOURCE[0]}"
      exit 0
      ;;
    *) die "unknown option $1; there are --list, --only REGEX and --help" ;;
  esac
  shift
done

for file in scripts/mutants/*.txt; do read_list "$file"; done
twice="$(printf '%s\n' "${ids[@]}" | sort | uniq -d)"
[[ -z "$twice" ]] || die "two faults have the id $twice"

chosen=()
for i in "${!ids[@]}"; do
  status=0
  [[ "${ids[i]}" =~ $only ]] || status=$?
  ((status < 2)) || die "--only: $only is no regular expression"
  ((status == 0)) || continue
  check "$i"
  chosen+=("$i")
done
((${#chosen[@]} > 0)) || die "no fault has an id that matches $only"

if ((list)); then
  for i in "${chosen[@]}"; do printf '%-30s %s: %s\n' "${ids[i]}" "${files[i]}" "${whats[i]}"; done
  exit 0
fi

mkdir -p "$logs"
exec 9>"$work/lock"
flock --nonblock 9 || die "another run is using $work"

step "copy" copy_tree
step "configure" configure_copy
step "build" build_copy
baseline() {
  run_tests 3600 '*' >"$logs/none.log" 2>&1 ||
    die "without any fault $(failed_test "$logs/none.log") fails, see $logs/none.log"
}
step "tests without a fault" baseline
limit=$((60 + 5 * step_seconds))

caught=0 survived=0 broken=0
for i in "${chosen[@]}"; do
  start="$SECONDS"
  try "$i"
  cp "${files[i]}" "$tree/${files[i]}"
  case "$verdict" in
    caught*) caught=$((caught + 1)) ;;
    SURVIVED) survived=$((survived + 1)) ;;
    *) broken=$((broken + 1)) ;;
  esac
  printf '%-30s %s: %s, %d s\n' "${ids[i]}" "${whats[i]}" "$verdict" $((SECONDS - start))
done

((broken == 0)) || echo "$broken did not compile: correct the list"
echo "$SECONDS s in all"
echo "${#chosen[@]} planted, $caught caught, $survived survived"
((survived == 0 && broken == 0))
