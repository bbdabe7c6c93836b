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
