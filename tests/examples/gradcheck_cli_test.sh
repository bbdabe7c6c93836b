#!/usr/bin/env bash
# The program that checks gradients, as its users call it. Argument: the program.
. "$(dirname "$0")/cli.sh"
golden="$here/../golden/rows.safetensors"

expect 0 "all pass" --filter softmax
grep -qE '^softmax +\[3, 5\] +[^ ]+ +[^ ]+ +[^ ]+ +[^ ]+ +[^ ]+ +ok$' out.txt ||
  fail "the row of softmax has no number in each column"
expect 0 "all pass" --filter ConcatScore
grep -qE '^ConcatScore +.*[0-9]e-[0-9]+ +[0-9.]+e-[0-9]+ +ok$' out.txt ||
  fail "the row of ConcatScore has no number of PyTorch's"
expect 0 "worst: d y[" --filter gelu,Linear --verbose
expect 0 '"name": "cumsum.first"' --filter cumsum --json
expect 0 "--verbose" --help
expect 2 "no row has such a name" --filter no_such_operation
expect 2 "--fliter" --fliter softmax
expect 1 "no_such_file" --golden no_such_file

# Other numbers than PyTorch's: three quarters into the file lie those of some row.
cp "$golden" wrong
head -c 400 /dev/zero | tr '\0' '\100' |
  dd of=wrong bs=1 seek=$(($(stat -c %s "$golden") * 3 / 4)) conv=notrunc status=none
expect 1 "FAILED" --golden wrong
expect 1 "complaint" --golden wrong --json
