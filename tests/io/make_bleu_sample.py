#!/usr/bin/env python3
"""Writes bleu_sample.h: what sacrebleu gives for a few small corpora.

    pip install sacrebleu==2.6.0 && python3 tests/io/make_bleu_sample.py

Run by hand; the tests read the header and need no Python. The sentences are ours.
"""

import pathlib

from sacrebleu.metrics import BLEU
from sacrebleu.tokenizers.tokenizer_13a import Tokenizer13a

NBSP, WIDE = "\u00a0", "\u3000"

LINES = [
    "",
    "   ",
    "The cat sat on the mat.",
    "It costs $1,000.50, or 3.5% more (since 1990-95).",
    "\"Don't,\" he said; the well-known o'clock -- 10-20-30 - ended.",
    "a.b,c .5 5. ,5 5, ... 1.,2 .,. 1..2",
    "&quot;Q&amp;A&quot; &lt;b&gt; &amp;lt; &amp;quot; & &nbsp;",
    "e-mail: x_y@z.org/[a]{b}~`c^d\\e|f=g+h*i#j!k?l<m>n",
    "Zwölf Boxkämpfer „jagen“ Viktor – quer über den Deich… 5€, é.é,é",
    f"no{NBSP}break, wide{WIDE}space.{NBSP}5.{NBSP}tab\there\vand\x1cthere",
    "skipped<skipped>text and a hy-\nphen\nand a new line",
    "。、！？ 你好,世界.",
    f"the end of a line-\n{NBSP} ",
    "3-4 x-4 3-x --3-- '3' '' \x7f",
]

CORPORA = {
    # name: list of (translation, references)
    "one": [("The cat sat on the mat.", ["The cat sat on the mat."])],
    "mixed": [
        ("The cat is sitting on the mat.", ["The cat sat on the mat."]),
        ("It costs $1,000.50 or 3.5% more.", ["It costs $1,000.50, or 3.5 % more."]),
        ("He did not say anything about it yesterday.",
         ["Yesterday he said nothing at all about it."]),
        ("Die Sonne scheint heute über dem See.", ["Heute scheint die Sonne über dem See."]),
        ("", ["Nothing was written here."]),
    ],
    "two references": [
        ("the the the the the the the", ["the cat is on the mat", "there is a cat on the mat"]),
        ("a guide to action which ensures that the troops always obey the orders of the party",
         ["a guide to action that ensures that the troops will forever heed the orders of the party",
          "the guiding principle which guarantees the troops always being under its command"]),
        ("a b c d", ["a b", "a b c d e f"]),
    ],
    "no fourgrams match": [("a small house by a lake", ["a small hut by a lake shore"]),
                           ("one two three x four", ["one two y three four"])],
    "unigrams alone match": [("d c b a", ["a b c d"])],
    "three tokens": [("a b c", ["a b c"])],
    "nothing matches": [("x y z u v", ["a b c d e"])],
    "nothing written": [("", ["a b c d"]), (" ", ["e"])],
    "nothing wanted": [("", [""])],
    "too short": [("the cat sat on", ["the cat sat on the mat and slept there all day"])],
    "too long": [("the cat sat on the mat and slept there all day", ["the cat sat on the mat"])],
}


def text(s):
    # Octal escapes have three digits at most, and so end by themselves.
    return '"' + "".join(
        chr(b) if 32 <= b < 127 and chr(b) not in '"\\?' else f"\\{b:03o}" for b in s.encode()) + '"'


def texts(items):
    return "{" + ", ".join(text(s) for s in items) + "}"


def numbers(items):
    return "{" + ", ".join(repr(x) for x in items) + "}"


def corpus(name, pairs):
    count = max(len(refs) for _, refs in pairs)
    streams = [[refs[k] if k < len(refs) else None for _, refs in pairs] for k in range(count)]
    s = BLEU().corpus_score([t for t, _ in pairs], streams)
    out = [f"    {{{text(name)},", f"     {texts([t for t, _ in pairs])},"]
    out.append("     {" + ", ".join(texts(refs) for _, refs in pairs) + "},")
    out.append(f"     {s.score!r}, {numbers(s.precisions)}, {s.bp!r}, {s.sys_len}, {s.ref_len},")
    out.append(f"     {numbers(s.counts)}, {numbers(s.totals)}}},")
    return out


def main():
    tokenize = Tokenizer13a()
    out = ["// What sacrebleu gives; made by make_bleu_sample.py.", "// clang-format off", "#pragma once",
           "", "#include <cstdint>", "#include <string>", "#include <vector>", "",
           "namespace fovea::testing {", "",
           "struct TokenizedLine { std::string line; std::vector<std::string> tokens; };",
           "inline const std::vector<TokenizedLine> kTokenizedLines = {"]
    out += [f"    {{{text(line)}, {texts(tokenize(line.rstrip()).split())}}}," for line in LINES]
    out += ["};", "", "struct BleuSample {", "  std::string name;",
            "  std::vector<std::string> translations;",
            "  std::vector<std::vector<std::string>> references;",
            "  double score;", "  std::vector<double> precisions;", "  double brevity_penalty;",
            "  int64_t translation_length, reference_length;",
            "  std::vector<int64_t> matches, totals;", "};",
            "inline const std::vector<BleuSample> kBleuSamples = {"]
    for name, pairs in CORPORA.items():
        out += corpus(name, pairs)
    out += ["};", "", "}  // namespace fovea::testing", ""]
    pathlib.Path(__file__).with_name("bleu_sample.h").write_text("\n".join(out))


main()
