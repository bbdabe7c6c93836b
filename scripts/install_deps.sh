#!/usr/bin/env bash
# Installs what Fovea builds with, from the packages of Debian 12 or a newer Debian or Ubuntu.
# Does nothing, and needs no network, when all of it is there. FOVEA_SKIP_DEPS=1 skips the check on
# systems without apt, where the libraries come from elsewhere.
set -euo pipefail

packages=(
  g++ cmake ninja-build ca-certificates git
  libopenblas-dev libopenblas-pthread-dev  # matrix products
  libtbb-dev                               # threads
  libhwy-dev                               # portable SIMD
  libfmt-dev libcli11-dev nlohmann-json3-dev
  zlib1g-dev libpng-dev
  libgtest-dev libgmock-dev librapidcheck-dev libbenchmark-dev
  dataset-fashion-mnist                    # the images that the demo learns from
  festlex-cmu                              # English words and their phones
)

die() {
  printf 'error: %s\n' "$*" >&2
  exit 1
}

[[ "${FOVEA_SKIP_DEPS:-0}" == 1 ]] && exit 0

command -v dpkg-query >/dev/null && command -v apt-get >/dev/null ||
  die "install_deps: apt-get is not here; install the equivalents of: ${packages[*]}; then set FOVEA_SKIP_DEPS=1"

missing=()
for package in "${packages[@]}"; do
  status="$(dpkg-query --show --showformat='${db:Status-Status}' "$package" 2>/dev/null || true)"
  # A package of several architectures prints its status once for each.
  [[ "$status" == installed* ]] || missing+=("$package")
done
if ((${#missing[@]} == 0)); then
  echo "all ${#packages[@]} packages are installed"
  exit 0
fi

sudo=()
if ((EUID != 0)); then
  command -v sudo >/dev/null ||
    die "install_deps: needs root or sudo to install: ${missing[*]}"
  sudo=(sudo)
fi

echo "installing: ${missing[*]}"
apt=("${sudo[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq -o DPkg::Lock::Timeout=300 -o Dpkg::Use-Pty=0)
"${apt[@]}" update </dev/null || die "install_deps: apt-get update failed; is there a network?"
"${apt[@]}" install -y --no-install-recommends "${missing[@]}" </dev/null ||
  die "install_deps: apt-get could not install: ${missing[*]}"
