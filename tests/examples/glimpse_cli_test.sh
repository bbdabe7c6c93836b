#!/usr/bin/env bash
# Runs the program `glimpse` as users do: bad input, threads, kill -9, Ctrl-C, resume, --show.
# Usage: glimpse_cli_test.sh PATH/TO/glimpse
. "$(dirname "$0")/cli.sh"

# big_endian N...   four bytes each
big_endian() {
  local n
  for n in "$@"; do
    printf "$(printf '\\x%02x\\x%02x\\x%02x\\x%02x' $((n >> 24 & 255)) $((n >> 16 & 255)) $((n >> 8 & 255)) $((n & 255)))"
  done
}

# images N, labels N   IDX files of 12 x 12 pixels; the labels cycle through 0 to 9
images() {
  printf '\x00\x00\x08\x03'
  big_endian "$1" 12 12
  yes 'a picture of nothing, but every time another part of it' | head -c $(($1 * 144))
}
labels() {
  printf '\x00\x00\x08\x01'
  big_endian "$1"
  local i
  for ((i = 0; i < $1; ++i)); do printf "\\x0$((i % 10))"; done
}

mkdir data
images 3000 >data/train-images-idx3-ubyte
labels 3000 >data/train-labels-idx1-ubyte
images 200 >data/t10k-images-idx3-ubyte
labels 200 >data/t10k-labels-idx1-ubyte

copy_of_data() { rm -rf broken && cp -r data broken; }

# ---- bad flags: 2
refuses 2 '--glimpses.*0' --data data --glimpses 0
refuses 2 '--patch.*0' --data data --patch 0
refuses 2 '--patch.*-3' --data data --patch -3
refuses 2 '--lr.*nan' --data data --lr nan
refuses 2 '--lr.*inf' --data data --lr inf
refuses 2 '--lr.*-1' --data data --lr -1
refuses 2 '--std.*0' --data data --std 0
refuses 2 '--batch.*0' --data data --batch 0
refuses 2 '--epochs.*0' --data data --epochs 0
refuses 2 '--epochs.*x' --data data --epochs 3x
refuses 2 '--dataset' --data data --dataset rotated
refuses 2 '--no-such-flag' --no-such-flag
refuses 2 '--show' --data data --show 4

# ---- bad files: 1
refuses 1 "'nowhere' does not exist" --data nowhere
mkdir empty
refuses 1 "'empty' holds none of" --data empty
copy_of_data
head -c 5000 data/train-images-idx3-ubyte >broken/train-images-idx3-ubyte
refuses 1 'broken/train-images-idx3-ubyte.*cut off' --data broken
copy_of_data
echo '<!DOCTYPE html><html><body>404</body></html>' >broken/train-labels-idx1-ubyte
refuses 1 'broken/train-labels-idx1-ubyte' --data broken
copy_of_data
gzip -c data/train-images-idx3-ubyte | gzip -c >broken/train-images-idx3-ubyte
refuses 1 'broken/train-images-idx3-ubyte' --data broken
copy_of_data
printf '\x00' >broken/t10k-labels-idx1-ubyte
refuses 1 'broken/t10k-labels-idx1-ubyte' --data broken
copy_of_data
labels 7 >broken/train-labels-idx1-ubyte
refuses 1 '3000 images.*7 labels' --data broken
# Compressed once is read, whatever the name says.
copy_of_data
gzip -c data/train-images-idx3-ubyte >broken/train-images-idx3-ubyte
"$program" --data broken --hidden 8 --epochs 7 --epochs 1 --quiet --out compressed >/dev/null ||
  fail "a compressed IDX file was not read"

# ---- an --out that cannot be written, found before the first epoch
touch a-file
"$program" --data data --out a-file/out >stdout 2>stderr && fail "--out a-file/out was accepted"
grep -q 'a-file/out' stderr || fail "--out a-file/out: $(cat stderr)"
grep -q 'epoch' stdout && fail "--out a-file/out was found after training"

# ---- the same bits on 1 and 2 threads
run=(--data data --patch 4 --scales 2 --glimpses 4 --hidden 64 --batch 32 --seed 7 --epochs 4)
"$program" "${run[@]}" --threads 1 --out one >stdout 2>stderr || fail "one thread: $(cat stderr)"
"$program" "${run[@]}" --threads 2 --out two >/dev/null || fail "two threads"
cmp one/model.safetensors two/model.safetensors || fail "1 and 2 threads differ"
for file in metrics.json curve.svg glimpses.png model.safetensors checkpoint.safetensors; do
  [[ -s one/$file ]] || fail "one/$file is missing"
done
for key in test_error test_accuracy train_seconds samples_per_second epochs seed; do
  grep -q "\"$key\"" one/metrics.json || fail "metrics.json has no $key"
done
grep -q 'test accuracy' stdout || fail "the test accuracy was not printed"

# ---- killed or interrupted, and gone on with
stops_and_resumes one "${run[@]}"

# ---- checkpoints that do not fit
refuses 2 '--hidden is 32, was 64' --resume one/checkpoint.safetensors --hidden 32
refuses 2 '--seed is 8, was 7' --resume one/checkpoint.safetensors --seed 8
refuses 1 'none.safetensors' --resume none.safetensors
head -c 1000 one/checkpoint.safetensors >short.safetensors
refuses 1 'short.safetensors' --resume short.safetensors
refuses 1 'missing' --resume one/model.safetensors

# ---- pictures from a checkpoint of either kind
for file in model checkpoint; do
  "$program" --show 5 --checkpoint "one/$file.safetensors" --out shown >stdout 2>stderr ||
    fail "--show: $(cat stderr)"
  [[ -s shown/glimpses.png ]] || fail "--show $file drew nothing"
  rm -rf shown
done

# ---- harder tasks, plateau, several episodes an image, a patch wider than the image
for task in translated cluttered; do
  "$program" --data data --dataset "$task" --hidden 8 --epochs 1 --quiet --out "$task" \
    >/dev/null 2>stderr || fail "--dataset $task: $(cat stderr)"
done
"$program" --data data --hidden 8 --patch 20 --glimpses 1 --epochs 1 --schedule plateau \
  --duplicates 2 --mc-samples 2 --quiet --out odd >/dev/null 2>stderr || fail "odd: $(cat stderr)"
"$program" --help | grep -q -- --resume || fail "--help does not list --resume"
