#!/usr/bin/env bash
# The program `cost` as its users call it. Argument: the program.
. "$(dirname "$0")/cli.sh"

# holds KEY CONDITION   of x, the numbers under KEY of out/metrics.json (from x[1] to x[n]), as awk
# says it.
holds() {
  tr -d ' \n' <out/metrics.json | grep -oE "\"$1\":(\[[^]]*\]|[^,}]*)" | sed 's/.*://; s/[][]//g' |
    awk -F, "{ split(\$0, x); n = NF; exit !($2) }" || fail "$1: not $2: $(cat out.txt)"
}

all=(naive flash window linear linear_causal performer soft)
small=(--heads 2 --dim 16 --window 32 --features 16 --landmarks 8 --out out)

# Bytes do not depend on the machine: T x T numbers, or a constant number for each token.
expect 0 "next: " --tokens 1024 --repeats 1 --threads 1 --limit 1000 "${small[@]}"
for key in "${all[@]}"; do
  holds "${key}_tokens" "n == 4 && x[1] == 128 && x[4] == 1024"
  holds "${key}_seconds" "n == 4 && x[1] > 0 && x[4] > 0"
  holds "${key}_bytes" "n == 4 && x[1] > 0 && x[4] > x[1]"
  holds "${key}_time_exponent" "n == 1"
  [[ $key == naive ]] || holds "${key}_memory_exponent" "x[1] > 0.5 && x[1] < 1.3"
done
holds naive_memory_exponent "x[1] > 1.7 && x[1] < 2.2"
holds naive_bytes "x[4] > 2 * 2 * 1024 * 1024 * 4" # two maps for each of two heads, at least
holds flash_difference "x[1] < 1e-5"
grep -q "ends:" out.txt && fail "a curve ends before its limits: $(cat out.txt)"
grep -q "</svg>" out/cost.svg || fail "no picture"
(($(grep -cE "^naive, .* [0-9]" out.txt) == 2)) || fail "not two tables: $(cat out.txt)"

# A curve ends before it takes too long or too much, and says so.
expect 0 "naive ends: T = 512 would take about" --tokens 512 --repeats 1 --memory 0.003 --quiet \
  --limit 1000 "${small[@]}"
grep -q "GB, --memory is 0.003 GB" out.txt || fail "not for memory: $(cat out.txt)"
holds naive_tokens "n == 2 && x[2] == 256"
holds naive_time_exponent 'x[1] == "null"'
holds flash_tokens "n == 3"
expect 0 "flash ends: T = 256 would take about" --tokens 256 --repeats 1 --limit 1e-9 "${small[@]}"
holds flash_tokens "n == 1"
for key in "${all[@]}"; do grep -q "^$key ends: " out.txt || fail "$key does not end"; done

# The command that it proposes works.
read -ra next <<<"$(sed -n 's/^next: //p' out.txt)"
"${next[@]}" >again.txt || fail "${next[*]}"
grep -q "peak megabytes" again.txt || fail "${next[*]}: $(cat again.txt)"
expect 0 "milliseconds" --tokens 200 --heads 1 --dim 1 --window 0 --landmarks 1 --features 1 \
  --threads 2 --seed 3 --out out
holds naive_tokens "n == 1"

expect 0 "--limit" --help
expect 2 "--tokens" --tokens 64
expect 2 "--limit" --limit 0
expect 2 "--memory" --memory nan
expect 2 "--resume" --resume checkpoint
expect 2 "--no-such-flag" --no-such-flag
touch a-file
expect 1 "a-file/out" --out a-file/out
