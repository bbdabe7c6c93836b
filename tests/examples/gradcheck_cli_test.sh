#!/usr/bin/env bash
# The program that checks gradients, as its users call it. Argument: the program.
set -euo pipefail
program="$1"
golden="$(cd "$(dirname "${BASH_SOURCE[0]}")/../golden" && pwd)/rows.safetensors"
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
fail() {
  printf 'FAILED: %s\n' "$*" >&2
  exit 1
}

# expect CODE TEXT COMMAND...   exit code, and a text in what it prints; errors are one line.
expect() {
  local code="$1" text="$2" got=0
  shift 2
  "$@" >"$folder/out" 2>"$folder/err" || got=$?
  ((got == code)) || fail "$*: exit code $got instead of $code: $(cat "$folder/err")"
  cat "$folder/out" "$folder/err" | grep -qF -- "$text" || fail "$*: does not say: $text"
  (($(wc -l <"$folder/err") <= 1)) || fail "$*: more than one line on stderr"
}

expect 0 "all pass" "$program" --filter softmax
grep -qE '^softmax +\[3, 5\] +[^ ]+ +[^ ]+ +[^ ]+ +[^ ]+ +[^ ]+ +ok$' "$folder/out" ||
  fail "the row of softmax has no number in each column"
expect 0 "all pass" "$program" --filter ConcatScore
grep -qE '^ConcatScore +.*[0-9]e-[0-9]+ +[0-9.]+e-[0-9]+ +ok$' "$folder/out" ||
  fail "the row of ConcatScore has no number of PyTorch's"
expect 0 "worst: d y[" "$program" --filter gelu,Linear --verbose
expect 0 '"name": "cumsum.first"' "$program" --filter cumsum --json
expect 0 "--verbose" "$program" --help
expect 2 "no row has such a name" "$program" --filter no_such_operation
expect 2 "--fliter" "$program" --fliter softmax
expect 1 "no_such_file" "$program" --golden "$folder/no_such_file"

# Other numbers than PyTorch's: three quarters into the file lie those of some row.
cp "$golden" "$folder/wrong"
head -c 400 /dev/zero | tr '\0' '\100' |
  dd of="$folder/wrong" bs=1 seek=$(($(stat -c %s "$golden") * 3 / 4)) conv=notrunc status=none
expect 1 "FAILED" "$program" --golden "$folder/wrong"
expect 1 "complaint" "$program" --golden "$folder/wrong" --json
