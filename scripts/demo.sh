#!/usr/bin/env bash
# Trains two small models and shows what they looked at: one that says what clothes are from a few
# glimpses of Fashion-MNIST, and one that learns how English words are spoken. Arguments are passed
# on to the first: scripts/demo.sh --epochs 3
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

out=out/demo

step "dependencies" bash scripts/install_deps.sh
step "configure" configure
step "build" build glimpse seq2seq
# Clothes differ in detail and in outline: three scales see both.
step "train to look" build/bin/glimpse --scales 3 --start centre --schedule cosine --epochs 10 --seed 1 --out "$out" "$@"
# One pass over the 95,000 words that train: about a minute.
step "train to pronounce" build/bin/seq2seq --task phonemes --epochs 1 --test-limit 1000 --seed 1 --out "$out/phonemes"

echo
echo "Pictures and pages:"
find "$out" -type f \( -name '*.png' -o -name '*.html' -o -name '*.svg' \) | sort | sed "s|^|  $root/|"
echo "Done in $SECONDS s."
