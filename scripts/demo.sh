#!/usr/bin/env bash
# Trains a small model that looks where it chooses to, on Fashion-MNIST, and shows what it looked
# at. Arguments are passed on to the program: scripts/demo.sh --epochs 3
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

out=out/demo

step "dependencies" bash scripts/install_deps.sh
step "configure" configure
step "build" build glimpse
# Clothes differ in detail and in outline: three scales see both.
step "train" build/bin/glimpse --scales 3 --start centre --schedule cosine --epochs 10 --seed 1 --out "$out" "$@"

echo
echo "Pictures and pages:"
find "$out" -type f \( -name '*.png' -o -name '*.html' -o -name '*.svg' \) | sort | sed "s|^|  $root/|"
echo "Done in $SECONDS s."
