#!/usr/bin/env bash
# The program `order` as its users call it. Argument: the program.
. "$(dirname "$0")/cli.sh"

# says NAME WORDS   the row of the table that begins with NAME ends with WORDS.
says() { grep -qE "^$1 .*[0-9]   $2\$" out.txt || fail "$1: not \`$2\`: $(cat out.txt)"; }

expect 0 "next: " --out one --threads 1
says "attention alone" "sees a set"
says "a causal mask" "sees order"
for places in "sinusoids, added" "learned vectors, added"; do says "$places" "sees order and places"; done
for apart in "rotary, pairs of neighbours" "rotary, pairs of halves" "ALiBi, a bias by distance" \
  "T5, a learned bias" "Shaw, vectors by distance"; do says "$apart" "sees order"; done
for key in none causal sinusoidal learned rotary_interleaved rotary_half alibi t5 shaw; do
  grep -q "\"${key}_shuffled\"" one/metrics.json || fail "metrics.json has no ${key}_shuffled"
  grep -q "\"${key}_moved\"" one/metrics.json || fail "metrics.json has no ${key}_moved"
done

# The same numbers on 1 and 2 threads, and the command that it proposes works.
expect 0 "sees a set" --out two --threads 2 --quiet
cmp <(grep -v threads one/metrics.json) <(grep -v threads two/metrics.json) ||
  fail "1 and 2 threads differ"
read -ra next <<<"$(sed -n 's/^next: //p' out.txt)"
"${next[@]}" >again.txt || fail "${next[*]}"
grep -q "sees a set" again.txt || fail "${next[*]}: $(cat again.txt)"
expect 0 "sees a set" --tokens 2 --width 2 --heads 1 --moved 1 --seed 3 --out two

expect 0 "--moved" --help
expect 2 "--width 10: not a multiple of 2 x 4 heads" --width 10
expect 2 "--tokens" --tokens 1
expect 2 "--heads" --heads 0
expect 2 "--resume" --resume checkpoint
expect 2 "--no-such-flag" --no-such-flag
touch a-file
expect 1 "a-file/out" --out a-file/out
