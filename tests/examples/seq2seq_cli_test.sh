#!/usr/bin/env bash
# Runs the program `seq2seq` as users do: every task, attention and cell, bad input, threads,
# kill -9, Ctrl-C, resume, --translate, --compare. Usage: seq2seq_cli_test.sh PATH/TO/seq2seq
. "$(dirname "$0")/cli.sh"

tiny=(--hidden 8 --epochs 1 --batch 16 --seed 3 --threads 1)
small=(--task reverse --samples 100 --shortest 3 --longest 3 --beams 1 "${tiny[@]}")

# A line a pair: c3 b3 a3 and its reverse.
pair_lines() {
  local i a b c
  for ((i = 0; i < $1; ++i)); do
    a=a$((i % 5)) b=b$((i % 7)) c=c$((i % 12))
    printf '%s\t%s\n' "$c $b \"$a\"" "$a $b $c"
  done
}
pair_lines 400 >pairs.tsv

# A dictionary of words of two to five letters, each spoken letter by letter, some in two ways.
{
  printf 'MNCL\n'
  for first in b d f g k m n p r s v z; do
    for vowel in a e o; do
      for rest in '' t nd sk rt mst l p; do
        phones=''
        for ((i = 0; i < ${#rest}; ++i)); do phones+=" ${rest:i:1}"; done
        printf '("%s" nil (((%s %sh%s) 1)))\n' "$first$vowel$rest" "$first" "$vowel" "$phones"
      done
      printf '("%s" v (((%s ey) 0)))\n' "$first${vowel}t" "$first"
    done
  done
} >lexicon

# trains TASK KEYS ARGS...   writes all its files, all keys, ten translations with their maps.
trains() {
  local task="$1" keys="$2" file key
  shift 2
  "$program" --task "$task" "$@" "${tiny[@]}" --out "$task" >"$task.txt" 2>err.txt ||
    fail "--task $task: $(cat err.txt)"
  for file in metrics.json model.safetensors checkpoint.safetensors attention.html attention.png; do
    [[ -s $task/$file ]] || fail "--task $task: $file is missing"
  done
  for key in $keys exact_match perplexity tokens_per_second train_seconds parameters; do
    grep -q "\"$key\": *[0-9]" "$task/metrics.json" || fail "--task $task: metrics.json has no $key"
  done
  (($(grep -c ' -> ' "$task.txt") == 10)) || fail "--task $task: does not show ten translations"
  (($(grep -c '\[' "$task.txt") >= 10)) || fail "--task $task: shows no maps"
  grep -q 'epoch 1/1 .*perplexity' "$task.txt" || fail "--task $task: says nothing of its epoch"
  # What it proposes next works, as a shell reads it.
  sed -n 's/^next: //p' "$task.txt" >next
  bash ./next >out.txt 2>err.txt || fail "$(cat next): $(cat err.txt)"
  grep -q '^probability' out.txt || fail "$(cat next): says $(cat out.txt)"
}
trains dates "per wer" --samples 300
trains reverse "per wer" --samples 200 --longest 4
trains phonemes "per wer" lexicon
trains pairs bleu pairs.tsv
grep -q '"cell": *"gru"' pairs/metrics.json || fail "metrics.json does not name the cell"
grep -q 'copied_tokens_found' dates/metrics.json || fail "dates: no copied_tokens_found"
grep -q '400 pairs' pairs.txt || fail "pairs: does not say how many there are"

# ---- flags of tasks
expect 0 'on 1 test' "${small[@]}" --test-limit 1 --beams 3 --length-penalty 0.6 \
  --coverage-penalty 0.2 --quiet
(($(wc -l <out.txt) <= 4)) || fail "--quiet is not quiet: $(cat out.txt)"
expect 0 '400 pairs' --task pairs pairs.tsv --source-column 2 --target-column 1 --unit bpe \
  --merges 20 "${tiny[@]}" --out bpe
expect 0 'too long' --task pairs pairs.tsv --unit characters --max-length 10 --max-pairs 180 \
  "${tiny[@]}" --attention none
"$program" --task phonemes lexicon --stress --attention none --out stress "${tiny[@]}" >out.txt ||
  fail "--stress"
grep -q '[aeo]h1' out.txt || fail "--stress: vowels have none"
expect 0 phonemes --help
expect 0 'local-m' --help
expect 0 '--compare A,B,...  ' --help
expect 0 'Testing and translating:' --help
expect 0 '--hidden INT=256' --help
expect 0 '--out DIR=out/seq2seq/dates' --help --task dates
expect 0 '--hidden INT=64' --task dates --help
expect 0 '--warm-up INT=400' --help --task pairs --attention transformer

# ---- every attention, cell and order
for attention in additive dot scaled general concat location local-m local-p cosine transformer; do
  expect 0 'attention.png' "${small[@]}" --attention "$attention" --out "$attention"
done
refuses 2 '--positions is sinusoidal, was rotary' --resume transformer/checkpoint.safetensors \
  --positions sinusoidal
expect 0 'exact match' "${small[@]}" --attention transformer --positions sinusoidal --hidden 12
grep -q '"cell"' transformer/metrics.json && fail "metrics.json: a Transformer has no cell"
cp -r dot none  # of which nothing may stay
expect 0 'model.safetensors to none' "${small[@]}" --attention none --out none
[[ ! -e none/attention.html && ! -e none/attention.png ]] || fail "--attention none drew maps"
grep -q '\[' out.txt && fail "--attention none shows maps"
for cell in rnn lstm; do
  expect 0 'wrote metrics.json, model.safetensors, attention.html, attention.png to out/seq2seq/rev' \
    "${small[@]}" --embedding 4 --cell "$cell"
done
expect 0 'exact match' "${small[@]}" --cell lstm --encoder gru --out mixed
expect 0 'exact match' --resume mixed/checkpoint.safetensors --cell lstm --out mixed
refuses 2 '--cell is rnn, was lstm' --resume mixed/checkpoint.safetensors --cell rnn
expect 0 'exact match' "${small[@]}" --encoder transformer --layers 2 --heads 2
expect 0 'exact match' "${small[@]}" --order luong --attention general --sampling 0.5
expect 0 'exact match' "${small[@]}" --order luong --no-input-feeding --label-smoothing 0.1

# ---- what is refused: flags 2, files 1
refuses 2 '--no-such-flag' --no-such-flag
for flag in task attention cell encoder order unit positions; do
  refuses 2 "--$flag: magic is none of " "${small[@]}" "--$flag" magic
done
refuses 2 '--lr.*nan' "${small[@]}" --lr nan
refuses 2 '--sampling.*2' "${small[@]}" --sampling 2
refuses 2 '--beams.*0' "${small[@]}" --beams 0
refuses 2 '--samples.*9' "${small[@]}" --samples 9
refuses 2 '--shortest 9: more than --longest 4' --task reverse --shortest 9 --longest 4
refuses 2 '--hidden 9: must be even' "${small[@]}" --hidden 9
refuses 2 '--hidden 6: not a multiple of 4 heads' "${small[@]}" --encoder transformer --hidden 6
refuses 2 '--hidden 12: each of 4 heads must be of even width' "${small[@]}" \
  --attention transformer --hidden 12
refuses 2 '--sampling' "${small[@]}" --attention transformer --sampling 0.5
refuses 2 '--coverage-penalty: --attention none' "${small[@]}" --attention none --coverage-penalty 1
refuses 2 '--coverage-penalty' "${small[@]}" --compare dot,none --coverage-penalty 1
refuses 2 "a file is given, 'pairs.tsv'" "${small[@]}" pairs.tsv
refuses 2 'needs a FILE' --task pairs
refuses 2 '--max-vocabulary 3' --task pairs pairs.tsv --max-vocabulary 3
refuses 2 '--min-lr 0.1: above --lr 0.01' "${small[@]}" --lr 0.01 --min-lr 0.1
refuses 2 '--compare: dot twice' "${small[@]}" --compare dot,none,dot
refuses 2 '--attention: --compare names' "${small[@]}" --attention dot --compare dot,none
# idle FLAG WHERE ARGS...   a flag without a meaning is refused.
idle() { refuses 2 "$1: belongs to $2" "${@:3}"; }
idle --stress '--task phonemes' "${small[@]}" --stress
idle --samples '--task dates and reverse' lexicon --samples 100
for flag in shortest longest; do idle "--$flag" '--task reverse' --task dates "--$flag" 5; done
for flag in min-count max-vocabulary max-length max-pairs source-column target-column; do
  idle "--$flag" '--task pairs' lexicon "--$flag" 9
done
idle --unit '--task pairs' lexicon --unit words
idle --merges '--task pairs with --unit bpe' --task pairs pairs.tsv --merges 9
for flag in '--cell gru' '--encoder gru' '--order luong' '--embedding 4'; do
  # shellcheck disable=SC2086  # a flag and its value
  idle "${flag% *}" 'recurrent models' "${small[@]}" --attention transformer $flag
  # shellcheck disable=SC2086
  idle "${flag% *}" 'recurrent models' "${small[@]}" --compare transformer $flag
done
idle --no-input-feeding '--order luong' "${small[@]}" --no-input-feeding
idle --no-input-feeding '--order luong' "${small[@]}" --order luong --attention none \
  --no-input-feeding
idle --heads '--attention transformer and' "${small[@]}" --heads 2
idle --positions '--attention transformer' "${small[@]}" --positions rotary
idle --window '--attention local-m and' "${small[@]}" --window 2
idle --window '--attention local-m and' "${small[@]}" --compare dot,none --window 2
refuses 1 "'nowhere'" --task pairs nowhere
refuses 1 "'nowhere'; .*festlex-cmu" nowhere
refuses 1 "'pairs.tsv' line 1: expected MNCL" pairs.tsv
refuses 1 'line 1: expected at least 3 columns' --task pairs pairs.tsv --target-column 3
refuses 1 'too little data: 1 to learn from, 0 and 0' --task pairs pairs.tsv --max-pairs 1
refuses 2 '--compare: magic is none of' "${small[@]}" --compare none,magic
refuses 2 '--compare: trains anew' --resume dates/checkpoint.safetensors --compare none

# ---- files of pairs as people have them
cp pairs.tsv broken && printf 'one\xff\ttwo\n' >>broken
refuses 1 "'broken' line 401 is not UTF-8: byte 3" --task pairs broken
cp pairs.tsv broken && printf 'one alone\n' >>broken
refuses 1 "'broken' line 401: expected at least 2 columns" --task pairs broken
: >broken
refuses 1 "'broken': expected a pair" --task pairs broken
refuses 1 "'/dev/null' is not a regular file: pairs are read more than once" --task pairs /dev/null
cp lexicon broken && printf '("b\xff" nil (((b) 1)))\n' >>broken
refuses 1 "'broken' line $(wc -l <broken) is not UTF-8" broken
cp pairs.tsv $'pairs\xff.tsv'
refuses 1 '--file is not UTF-8: byte 5' --task pairs $'pairs\xff.tsv'
{
  cat pairs.tsv
  printf '\tno source\nno target\t \n\n'
  head -c 100000 /dev/zero | tr '\0' x
  printf '\ty\n%070d\ty\n' 0 | sed 's/0/0 /g'
} >holes
expect 0 '401 pairs; 3 without text on one side, the first in line 401; 1 too long, the first in' \
  --task pairs holes --attention none "${tiny[@]}"
mkdir crlf && sed 's/$/\r/' pairs.tsv >crlf/pairs.tsv
(cd crlf && "$program" --task pairs pairs.tsv "${tiny[@]}" --out ../crlf --quiet >/dev/null) ||
  fail "CRLF"
cmp pairs/model.safetensors crlf/model.safetensors || fail "carriage returns are read as text"

# ---- sentences that are long, in letters or in words
# long_lines WORDS WORD
long_lines() {
  local i
  for ((i = 0; i < 150; ++i)); do
    printf '%s ' "$i"
    printf "$((i % 9))$2%.0s " $(seq "$1")
    printf '\t%s\n' "c$((i % 3))"
  done
}
long_lines 20 _a_long_word >letters.tsv
expect 0 'attention.png to letters' --task pairs letters.tsv --out letters "${tiny[@]}"
width=$((0x$(od -An -tx1 -j16 -N4 letters/attention.png | tr -d ' ')))
((width < 4000)) || fail "attention.png is $width pixels wide"
long_lines 70 '' >words.tsv
expect 0 'maps of more than 60 tokens are not in attention.png' --task pairs words.tsv \
  --max-length 0 --out words "${tiny[@]}" --batch 64
[[ -s words/metrics.json && ! -e words/attention.png ]] || fail "long sentences: files are wrong"

# ---- control characters stay in the file
sed 's/a\([0-9]\)/a\x1b[31m\1\a/g' pairs.tsv >colours.tsv
expect 0 '[31m' --task pairs colours.tsv --out colours "${tiny[@]}"
grep -q $'[\e\a]' out.txt && fail "control characters reach the terminal"
expect 0 'never shown: ' --translate $'\e[2J' --checkpoint colours/model.safetensors
grep -q $'\e' out.txt && fail "--translate: control characters reach the terminal"

# ---- an --out that cannot be written, found before the first epoch
touch a-file
"$program" "${small[@]}" --out a-file/out >out.txt 2>err.txt && fail "--out a-file/out was accepted"
grep -q 'epoch' out.txt && fail "--out a-file/out was found after training"

# ---- --translate, with files of either kind
for file in model checkpoint; do
  "$program" --translate "Sat 3 May '79" --checkpoint "dates/$file.safetensors" >"$file.txt" \
    2>err.txt || fail "--translate: $(cat err.txt)"
done
cmp model.txt checkpoint.txt || fail "--translate differs between model and checkpoint"
expect 0 'never shown: é ☺' --translate 'é 3 ☺' --checkpoint dates/model.safetensors
expect 0 '-3 ->' --translate -3 --checkpoint dates/model.safetensors
expect 0 'bat ->' --translate BAT --checkpoint phonemes/model.safetensors
expect 0 'never shown: zebra' --translate '  c1 zebra ' --checkpoint pairs/model.safetensors
expect 0 'c1 b1 ->' --translate 'c1 b1' --checkpoint bpe/model.safetensors
long="$(printf 'a%.0s' {1..99})"
expect 0 "$long ->" --translate "$long" --checkpoint dates/model.safetensors
expect 0 "$long ->" --translate "$long" --checkpoint transformer/model.safetensors
refuses 2 '99 tokens; a model with --attention location reads up to' --translate "$long" \
  --checkpoint location/model.safetensors
refuses 2 'needs something to translate' --translate '' --checkpoint dates/model.safetensors
refuses 2 'needs something to translate' --translate '  ' --checkpoint pairs/model.safetensors
refuses 1 'not UTF-8' --translate $'a\xff' --checkpoint dates/model.safetensors
refuses 2 '--translate: needs --checkpoint' --translate 1
refuses 2 '--checkpoint: belongs to --translate' "${small[@]}" --checkpoint dates/model.safetensors
refuses 2 '--checkpoint: --resume names a file already' --translate 1 \
  --checkpoint dates/model.safetensors --resume dates/checkpoint.safetensors
refuses 2 '--hidden is 16, was 8 in dates/model.safetensors; leave the flag out; see' --translate 1 \
  --checkpoint dates/model.safetensors --hidden 16
refuses 2 '--lr is 1, was' --translate 1 --checkpoint dates/model.safetensors --lr 1
refuses 2 '--test-limit: means nothing to --translate' --translate 1 --test-limit 9 \
  --checkpoint dates/model.safetensors
refuses 2 'FILE: means nothing to --translate' --translate 1 lexicon \
  --checkpoint dates/model.safetensors
refuses 1 'none.safetensors' --translate 1 --checkpoint none.safetensors
refuses 1 lexicon --translate 1 --checkpoint lexicon

# ---- --compare
expect 0 'right by length' "${small[@]}" --compare none,dot,local-m --window 2 --out compared
for name in none dot; do
  grep -q "^$name  " out.txt || fail "--compare: no row of $name"
  grep -q "\"${name}_exact_match\"" compared/compare.json || fail "compare.json: no $name"
done
[[ -s compared/compare.svg ]] || fail "--compare drew nothing"

# ---- the same bits on 1 and 2 threads; killed or interrupted, and gone on with. Scheduled sampling
# and dropout draw random numbers all along.
run=(--task dates --samples 2000 --hidden 16 --embedding 8 --epochs 3 --batch 16 --seed 7
  --sampling 0.5 --dropout 0.2 --test-limit 20 --quiet)
"$program" "${run[@]}" --threads 1 --out one >out.txt 2>err.txt || fail "one thread: $(cat err.txt)"
"$program" "${run[@]}" --threads 2 --out two >/dev/null || fail "two threads"
cmp one/model.safetensors two/model.safetensors || fail "1 and 2 threads differ"
stops_and_resumes one "${run[@]}"

# Ctrl-C amid the second of a comparison: the first stays, and the same command goes on.
"$program" "${run[@]}" --compare none,additive --threads 1 --out both >out.txt 2>err.txt &
pid=$!
until [[ -e both/additive/checkpoint.safetensors ]] || ! kill -0 "$pid" 2>/dev/null; do
  sleep 0.01
done
kill -INT "$pid" 2>/dev/null
status=0
wait "$pid" || status=$?
((status == 130)) || fail "--compare, Ctrl-C: exit code $status: $(cat err.txt)"
[[ -s both/none/model.safetensors && ! -e both/additive/model.safetensors ]] ||
  fail "--compare, Ctrl-C: the first model is not saved, or the second is"
for file in out.txt both/compare.json both/compare.svg; do
  grep -q none "$file" || fail "--compare, Ctrl-C: $file has nothing of what was done"
done
before="$(stat -c '%i %y' both/none/checkpoint.safetensors)"
bash -c "$(sed -n 's/^stopped at .* of additive; go on with: //p' out.txt)" >out.txt 2>err.txt ||
  fail "--compare, gone on with: $(cat err.txt)"
[[ "$before" == "$(stat -c '%i %y' both/none/checkpoint.safetensors)" ]] ||
  fail "--compare trains again what it has trained"
cmp one/model.safetensors both/additive/model.safetensors || fail "--compare, gone on with, differs"
for name in none additive; do grep -q "^$name  " out.txt || fail "--compare: no row of $name"; done

# Ctrl-C amid the second epoch, and gone on with as the program says, from one thread to two.
results() { grep -vE 'second|"threads"' "$1/metrics.json"; }
step=0 steps=3 amid="it's amid"
while ((step % (steps / 3) == 0)); do
  rm -rf "$amid"
  "$program" "${run[@]}" --threads 1 --out "$amid" >out.txt 2>err.txt &
  pid=$!
  until [[ -e $amid/checkpoint.safetensors ]] || ! kill -0 "$pid" 2>/dev/null; do sleep 0.01; done
  sleep 0.05
  kill -INT "$pid" 2>/dev/null
  status=0
  wait "$pid" || status=$?
  ((status == 130)) || fail "Ctrl-C: exit code $status: $(cat err.txt)"
  read -r step steps <<<"$(sed -n 's/^stopped at step \([0-9]*\) of \([0-9]*\);.*/\1 \2/p' out.txt)"
done
bash -c "$(sed -n 's/^stopped.*go on with: //p' out.txt) --threads 2 --quiet" >out.txt 2>err.txt ||
  fail "resume: $(cat err.txt)"
cmp one/model.safetensors "$amid/model.safetensors" || fail "a run that was resumed differs"
[[ "$(results one)" == "$(results "$amid")" ]] || fail "a run that was resumed has other metrics"

# ---- checkpoints that do not fit
refuses 2 '--lr is 0.1, was 0.005' --resume one/checkpoint.safetensors --lr 0.1
refuses 2 '--attention is dot, was additive' --resume one/checkpoint.safetensors --attention dot
refuses 2 '--epochs is 4, was 3' --resume one/checkpoint.safetensors --epochs 4
refuses 1 'none.safetensors' --resume none.safetensors
refuses 1 'missing' --resume one/model.safetensors
head -c 1000 one/checkpoint.safetensors >short.safetensors
refuses 1 'short.safetensors' --resume short.safetensors
sed 's/c1/d1/g' pairs.tsv >other
refuses 1 'other tokens' --resume pairs/checkpoint.safetensors other
cat pairs.tsv pairs.tsv >other
refuses 1 'other data' --resume pairs/checkpoint.safetensors other
tac pairs.tsv >other
refuses 1 'other data' --resume pairs/checkpoint.safetensors other
