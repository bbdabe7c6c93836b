# Shared by the scripts beside it: source it, do not run it.

root="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
cd "$root"
jobs="$(nproc)"

die() {
  printf 'error: %s\n' "$*" >&2
  exit 1
}

# step NAME COMMAND...   runs the command, and prints the name before it and the seconds after it.
# The seconds stay in $step_seconds.
step() {
  local name="$1" start="$SECONDS"
  shift
  printf '== %s\n' "$name"
  "$@"
  step_seconds=$((SECONDS - start))
  printf '== %s: done in %d s\n' "$name" "$step_seconds"
}

# configure [CMAKE ARGS...]   configures the release build in build/.
configure() {
  cmake --preset release "$@"
}

# build TARGET...   builds in build/.
build() {
  cmake --build --preset release --parallel "$jobs" --target "$@"
}
