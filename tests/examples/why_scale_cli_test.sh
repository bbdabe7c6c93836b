#!/usr/bin/env bash
# The program `why_scale` as its users call it. Argument: the program.
. "$(dirname "$0")/cli.sh"

# holds KEY CONDITION   of x, the list under KEY of metrics.json (from x[1] to x[n]), as awk says it.
holds() {
  tr -d ' \n' <one/metrics.json | grep -oE "\"$1\":\[[^]]*\]" | sed 's/.*\[//; s/\]//' |
    awk -F, "{ split(\$0, x); n = NF; exit !($2) }" || fail "$1: not $2: $(cat out.txt)"
}

expect 0 "next: " --out one --threads 1
holds d "n == 9 && x[1] == 4 && x[9] == 1024"
# The variance of the scores is d, or 1.
holds plain_variance_by_d "x[1] > 3.5 && x[1] < 4.5 && x[9] > 980 && x[9] < 1070"
holds scaled_variance_by_d "x[1] > 0.9 && x[1] < 1.1 && x[9] > 0.9 && x[9] < 1.1"
# Undivided, entropy and gradient fall; divided, neither depends on d.
holds plain_entropy_by_d "x[1] > 2.5 && x[5] < 0.8 && x[9] < 0.2"
holds scaled_entropy_by_d "x[1] > 3.6 && x[9] > 3.6 && x[9] < 3.8"
holds plain_gradient_by_d "x[1] > 0.1 && x[9] < 0.002"
holds plain_gradient_q_by_d "x[9] < 0.05 * x[1]"
holds scaled_gradient_by_d "x[1] > 0.14 && x[9] > 0.14 && x[9] < 0.2"
# sqrt(embed_size) makes scores sqrt(heads) too small: the entropy comes near log 64 = 4.159.
holds heads "n == 7 && x[7] == 64"
holds head_variance_by_heads "x[7] > 0.9 && x[7] < 1.1"
holds embed_variance_by_heads "x[1] > 0.9 && x[3] > 0.22 && x[3] < 0.28 && x[7] < 0.02"
holds embed_entropy_by_heads "x[1] < 3.8 && x[7] > 4.13 && x[7] < 4.159"
holds embed_gradient_q_by_heads "x[7] < 0.15 * x[1]"
# The layer itself: the same order of keys, a flatter choice.
holds layer_head "n == 6 && x[1] > 0.4"
holds layer_embed "n == 6 && x[1] > 1 / 6 && x[1] < 0.3"
grep -q "</svg>" one/why_scale.svg || fail "no picture"

# The same numbers on 1 and 2 threads, and the command that it proposes works.
expect 0 "SelfAttention" --out two --threads 2 --quiet
cmp <(grep -v threads one/metrics.json) <(grep -v threads two/metrics.json) ||
  fail "1 and 2 threads differ"
expect 0 "next: " --out two --keys 2 --batches 1 --largest 4 --embed 2 --seed 3
read -ra next <<<"$(sed -n 's/^next: //p' out.txt)"
"${next[@]}" >again.txt || fail "${next[*]}"
grep -q "SelfAttention" again.txt || fail "${next[*]}: $(cat again.txt)"

expect 0 "--largest" --help
expect 2 "--keys" --keys 1
expect 2 "--largest" --largest 2
expect 2 "--resume" --resume checkpoint
expect 2 "--no-such-flag" --no-such-flag
touch a-file
expect 1 "a-file/out" --out a-file/out
