# What the tests of programs share. They begin with: . "$(dirname "$0")/cli.sh" and get the program
# as their argument; they run in an empty folder, and end at the first thing that is wrong.
set -uo pipefail
here="$(cd "$(dirname "$0")" && pwd)"
program="$(realpath "$1")"
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1

fail() {
  printf 'FAILED: %s\n' "$*" >&2
  exit 1
}

# expect CODE TEXT ARGS...   exit code, and a text in what it prints; errors are one line.
expect() {
  local code="$1" text="$2" got=0
  shift 2
  "$program" "$@" >out.txt 2>err.txt || got=$?
  ((got == code)) || fail "$*: exit code $got instead of $code: $(cat err.txt)"
  grep -qF -- "$text" out.txt err.txt || fail "$*: does not say: $text"
  (($(wc -l <err.txt) <= 1)) || fail "$*: more than one line on stderr"
}

# refuses CODE PATTERN ARGS...   exit code, one line on stderr that matches, nothing written.
refuses() {
  local code="$1" pattern="$2" got=0
  shift 2
  rm -rf refused
  "$program" --out refused "$@" >out.txt 2>err.txt || got=$?
  ((got == code)) || fail "$*: exit code $got, not $code: $(cat err.txt)"
  (($(wc -l <err.txt) == 1)) || fail "$*: not one line: $(cat err.txt)"
  grep -qE -- "$pattern" err.txt || fail "$*: \`$(cat err.txt)\` does not say $pattern"
  [[ ! -e refused ]] || fail "$*: left the folder --out behind"
}

# stops_and_resumes REFERENCE ARGS...   a run that is killed behind its first checkpoint, and one that
# gets Ctrl-C there, end with the bits of REFERENCE/model.safetensors when they are gone on with.
stops_and_resumes() {
  local reference="$1" signal pid status
  shift
  for signal in KILL INT; do
    "$program" "$@" --out stopped >out.txt 2>err.txt &
    pid=$!
    until [[ -e stopped/checkpoint.safetensors ]] || ! kill -0 "$pid" 2>/dev/null; do
      sleep 0.01
    done
    kill "-$signal" "$pid" 2>/dev/null
    status=0
    wait "$pid" 2>/dev/null || status=$?
    [[ ! -e stopped/model.safetensors ]] || fail "the run ended before SIG$signal"
    if [[ "$signal" == INT ]]; then
      ((status == 130)) || fail "Ctrl-C: exit code $status, not 130: $(cat err.txt)"
      grep -q -- '--resume stopped/checkpoint.safetensors' out.txt ||
        fail "Ctrl-C: does not say how to go on: $(cat out.txt)"
    fi
    "$program" --resume stopped/checkpoint.safetensors --out stopped --threads 1 --quiet \
      >out.txt 2>err.txt || fail "resume after SIG$signal: $(cat err.txt)"
    cmp "$reference/model.safetensors" stopped/model.safetensors ||
      fail "a run that was resumed after SIG$signal differs"
    rm -rf stopped
  done
}
