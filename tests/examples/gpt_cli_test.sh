#!/usr/bin/env bash
# Runs the program `gpt` as users do: bad input, threads, kill -9, Ctrl-C, resume, --sample.
# Usage: gpt_cli_test.sh PATH/TO/gpt
. "$(dirname "$0")/cli.sh"

yes 'the quick brown fox jumps over the lazy dog, and the dog sleeps on; Ärger!' | head -c 8000 >text
text=(--text text)
small=(--preset tiny --layers 1 --width 16 --context 16 --batch 4 --steps 60 --eval-every 20)

# ---- bad flags: 2
refuses 2 '--layers.*0' "${text[@]}" --layers 0
refuses 2 '--heads.*0' "${text[@]}" --heads 0
refuses 2 '--lr.*nan' "${text[@]}" --lr nan
refuses 2 '--dropout.*2' "${text[@]}" --dropout 2
refuses 2 '--steps.*0' "${text[@]}" --steps 0
refuses 2 '--preset.*huge' "${text[@]}" --preset huge
refuses 2 '--top-p.*0' "${text[@]}" --top-p 0
refuses 2 '--no-such-flag' --no-such-flag
refuses 2 '--sample: needs --checkpoint' --sample 'a'
refuses 2 '--checkpoint: belongs to --sample' "${text[@]}" --checkpoint x
refuses 2 '--width 18: not a multiple of 4 heads' "${text[@]}" --width 18 --heads 4

# ---- bad files: 1
refuses 1 'nowhere' --text nowhere
refuses 1 "'.'" --text .
: >empty
refuses 1 "'empty' has 0 characters" --text empty
head -c 300 text >short
refuses 1 "'short' has [0-9]+ characters; --context 64" --text short
printf 'abc\xff' >latin
refuses 1 "'latin' is not UTF-8: byte 3" --text latin

# ---- an --out that cannot be written, found before the first step
touch a-file
"$program" "${text[@]}" --out a-file/out >stdout 2>stderr && fail "--out a-file/out was accepted"
grep -q 'step' stdout && fail "--out a-file/out was found after training"

# ---- it learns, with the same bits on 1 and 2 threads
run=("${text[@]}" "${small[@]}" --seed 7 --dropout 0.1)
"$program" "${run[@]}" --threads 1 --out one >stdout 2>stderr || fail "one thread: $(cat stderr)"
"$program" "${run[@]}" --threads 2 --out two >/dev/null || fail "two threads"
cmp one/model.safetensors two/model.safetensors || fail "1 and 2 threads differ"
for file in metrics.json curve.svg model.safetensors checkpoint.safetensors; do
  [[ -s one/$file ]] || fail "one/$file is missing"
done
for key in valid_loss train_loss train_seconds tokens_per_second steps seed parameters; do
  grep -q "\"$key\"" one/metrics.json || fail "metrics.json has no $key"
done
grep -q 'validation loss' stdout || fail "the validation loss was not printed"
read -ra next <<<"$(sed -n 's/^next: //p' stdout)"
"${next[@]}" --tokens 5 >/dev/null || fail "${next[*]}"

# ---- killed or interrupted, and gone on with
"$program" "${run[@]}" --steps 1200 --out whole --quiet >/dev/null || fail "1200 steps"
stops_and_resumes whole "${run[@]}" --steps 1200

# ---- checkpoints that do not fit
refuses 2 '--width is 32, was 16' --resume one/checkpoint.safetensors --width 32
refuses 2 '--steps is 70, was 60' --resume one/checkpoint.safetensors --steps 70
refuses 1 'none.safetensors' --resume none.safetensors
refuses 1 'missing' --resume one/model.safetensors
sed 's/fox/f0x/g' text >other
refuses 1 'other characters' --resume one/checkpoint.safetensors --text other

# ---- it writes, from a file of either kind, the same with the same seed
for file in model checkpoint; do
  "$program" --sample 'the ' --checkpoint "one/$file.safetensors" --tokens 40 --seed 3 >"$file.txt" \
    2>stderr || fail "--sample: $(cat stderr)"
done
cmp model.txt checkpoint.txt || fail "--sample differs between model and checkpoint"
grep -q '^the ' model.txt || fail "--sample does not begin with the prompt"
"$program" --sample 'Ä' --checkpoint one/model.safetensors --tokens 5 --temperature 0 --top-k 3 \
  --top-p 0.9 >/dev/null 2>stderr || fail "--sample with all options: $(cat stderr)"
refuses 1 "'#' \(U\+0023\)" --sample '#' --checkpoint one/model.safetensors
refuses 2 'needs a character' --sample '' --checkpoint one/model.safetensors
refuses 2 '--checkpoint: --resume names a file already' --sample 'the ' \
  --checkpoint one/model.safetensors --resume one/checkpoint.safetensors
"$program" --help | grep -q -- --resume || fail "--help does not list --resume"
