#!/usr/bin/env bash
# Kills training runs with SIGKILL, goes on with them on another number of threads, and requires
# the checkpoint of a run that nobody killed, bit by bit: scripts/kill.sh [TIMES] [PROGRAM...]
# Each of glimpse, gpt and seq2seq is killed TIMES times, 20 by default, at random moments (SEED=1
# chooses them; another SEED, others). What a clock has measured is not compared.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

times=20
if [[ "${1:-}" =~ ^[0-9]+$ ]]; then
  times="$1"
  shift
fi
programs=("$@")
((${#programs[@]} > 0)) || programs=(glimpse gpt seq2seq)
RANDOM="${SEED:-1}"

if [[ ! -f build/CMakeCache.txt ]]; then step "configure" configure; fi
step "build" build "${programs[@]}"
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT

# ---- small data
big_endian() {
  local n
  for n in "$@"; do
    printf "$(printf '\\x%02x\\x%02x\\x%02x\\x%02x' \
      $((n >> 24 & 255)) $((n >> 16 & 255)) $((n >> 8 & 255)) $((n & 255)))"
  done
}
images() {  # N pictures of 12 x 12 pixels
  printf '\x00\x00\x08\x03'
  big_endian "$1" 12 12
  { yes 'a picture of nothing, but every time another part of it' || true; } | head -c $(($1 * 144))
}
labels() {
  printf '\x00\x00\x08\x01'
  big_endian "$1"
  { yes "$(printf '\x01\x02\x03\x04\x05\x06\x07\x08')" || true; } | tr '\n' '\t' | head -c "$1"
}
mkdir "$work/images"
images 2000 > "$work/images/train-images-idx3-ubyte"
labels 2000 > "$work/images/train-labels-idx1-ubyte"
images 200 > "$work/images/t10k-images-idx3-ubyte"
labels 200 > "$work/images/t10k-labels-idx1-ubyte"
{ yes 'the quick brown fox jumps over the lazy dog, and the dog sleeps on' || true; } |
  head -c 8000 > "$work/text"

# ---- runs of a second or two with many checkpoints
arguments() {
  case "$1" in
    glimpse) printf '%s\n' --data "$work/images" --patch 4 --glimpses 4 --hidden 32 --batch 32 --epochs 8 ;;
    gpt)
      printf '%s\n' --text "$work/text" --preset tiny --layers 1 --width 16 --context 16 --batch 4 \
        --dropout 0.1 --steps 600 --eval-every 30
      ;;
    seq2seq)
      printf '%s\n' --task reverse --samples 600 --longest 8 --hidden 32 --batch 32 --epochs 8 \
        --beams 1
      ;;
    *) die "kill.sh: no program $1" ;;
  esac
}

# same FILE FILE   the same names, shapes and bits, but for seconds.
same() {
  python3 - "$1" "$2" << 'PYTHON'
import json
import struct
import sys

# Tables of f64 with a column of seconds, and which it is.
TIMES = {"history.running": -1, "steps.rows": -1, "epochs.rows": 5}


def read(path):
    with open(path, "rb") as file:
        raw = file.read()
    n = struct.unpack("<Q", raw[:8])[0]
    header, data = json.loads(raw[8:8 + n]), raw[8 + n:]
    result = {"__metadata__": header.pop("__metadata__", None)}
    for name, entry in header.items():
        begin, end = entry["data_offsets"]
        content = data[begin:end]
        if name.endswith(".seconds"):
            content = len(content)
        elif name in TIMES:
            columns = entry["shape"][-1]
            values = [content[i:i + 8] for i in range(0, len(content), 8)]
            content = [v for i, v in enumerate(values) if i % columns != TIMES[name] % columns]
        result[name] = entry["dtype"], entry["shape"], content
    return result


a, b = read(sys.argv[1]), read(sys.argv[2])
wrong = sorted(name for name in a.keys() | b.keys() if a.get(name) != b.get(name))
if wrong:
    sys.exit("differs in " + ", ".join(wrong))
PYTHON
}

milliseconds() { echo $(($(date +%s%N) / 1000000)); }

# try PROGRAM   kills it TIMES times; prints a line.
try() {
  local program="$1" run start took wait pid killed=0 restarts=0 threads other status
  mapfile -t run < <(arguments "$program")
  run+=(--seed 5 --quiet)
  start="$(milliseconds)"
  "build/bin/$program" "${run[@]}" --threads 1 --out "$work/whole" > "$work/log" 2>&1 ||
    die "$program: $(cat "$work/log")"
  took=$(($(milliseconds) - start))
  while ((killed < times)); do
    rm -rf "$work/killed"
    threads=$((1 + killed % 2)) other=$((2 - killed % 2))
    wait=$((took * RANDOM / 32768))
    "build/bin/$program" "${run[@]}" --threads "$threads" --out "$work/killed" > "$work/log" 2>&1 &
    pid=$!
    sleep "$(printf '%d.%03d' $((wait / 1000)) $((wait % 1000)))"
    kill -KILL "$pid" 2> /dev/null || true
    status=0
    wait "$pid" 2> /dev/null || status=$?
    if ((status == 0)); then continue; fi  # it had ended
    ((status == 137)) || die "$program: exit code $status: $(cat "$work/log")"
    killed=$((killed + 1))
    local again=("${run[@]}")
    if [[ -e "$work/killed/checkpoint.safetensors" ]]; then
      again=(--resume "$work/killed/checkpoint.safetensors" --quiet)
    else
      restarts=$((restarts + 1))
    fi
    "build/bin/$program" "${again[@]}" --threads "$other" --out "$work/killed" > "$work/log" 2>&1 ||
      die "$program, killed after $wait ms: $(cat "$work/log")"
    for file in checkpoint model; do
      same "$work/whole/$file.safetensors" "$work/killed/$file.safetensors" ||
        die "$program, killed after $wait ms: $file.safetensors is another"
    done
    # What a killed writer leaves is a temporary beside the file, never a damaged file.
  done
  printf '%-8s killed %d times in runs of %d ms, %d before the first checkpoint: the same bits\n' \
    "$program" "$killed" "$took" "$restarts"
  rm -rf "$work/whole" "$work/killed"
}

for program in "${programs[@]}"; do try "$program"; done
