// What sacrebleu gives; made by make_bleu_sample.py.
// clang-format off
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace fovea::testing {

struct TokenizedLine { std::string line; std::vector<std::string> tokens; };
inline const std::vector<TokenizedLine> kTokenizedLines = {
    {"", {}},
    {"   ", {}},
    {"The cat sat on the mat.", {"The", "cat", "sat", "on", "the", "mat", "."}},
    {"It costs $1,000.50, or 3.5% more (since 1990-95).", {"It", "costs", "$", "1,000.50", ",", "or", "3.5", "%", "more", "(", "since", "1990", "-", "95", ")", "."}},
    {"\042Don't,\042 he said; the well-known o'clock -- 10-20-30 - ended.", {"\042", "Don't", ",", "\042", "he", "said", ";", "the", "well-known", "o'clock", "--", "10", "-", "20", "-", "30", "-", "ended", "."}},
    {"a.b,c .5 5. ,5 5, ... 1.,2 .,. 1..2", {"a", ".", "b", ",", "c", ".", "5", "5", ".", ",", "5", "5", ",", ".", ".", ".", "1", ".", ",", "2", ".", ",", ".", "1", ".", ".", "2"}},
    {"&quot;Q&amp;A&quot; &lt;b&gt; &amp;lt; &amp;quot; & &nbsp;", {"\042", "Q", "&", "A", "\042", "<", "b", ">", "<", "&", "quot", ";", "&", "&", "nbsp", ";"}},
    {"e-mail: x_y@z.org/[a]{b}~`c^d\134e|f=g+h*i#j!k\077l<m>n", {"e-mail", ":", "x", "_", "y", "@", "z", ".", "org", "/", "[", "a", "]", "{", "b", "}", "~", "`", "c", "^", "d", "\134", "e", "|", "f", "=", "g", "+", "h", "*", "i", "#", "j", "!", "k", "\077", "l", "<", "m", ">", "n"}},
    {"Zw\303\266lf Boxk\303\244mpfer \342\200\236jagen\342\200\234 Viktor \342\200\223 quer \303\274ber den Deich\342\200\246 5\342\202\254, \303\251.\303\251,\303\251", {"Zw\303\266lf", "Boxk\303\244mpfer", "\342\200\236jagen\342\200\234", "Viktor", "\342\200\223", "quer", "\303\274ber", "den", "Deich\342\200\246", "5\342\202\254", ",", "\303\251", ".", "\303\251", ",", "\303\251"}},
    {"no\302\240break, wide\343\200\200space.\302\2405.\302\240tab\011here\013and\034there", {"no", "break", ",", "wide", "space", ".", "5", ".", "tab", "here", "and", "there"}},
    {"skipped<skipped>text and a hy-\012phen\012and a new line", {"skippedtext", "and", "a", "hyphen", "and", "a", "new", "line"}},
    {"\343\200\202\343\200\201\357\274\201\357\274\237 \344\275\240\345\245\275,\344\270\226\347\225\214.", {"\343\200\202\343\200\201\357\274\201\357\274\237", "\344\275\240\345\245\275", ",", "\344\270\226\347\225\214", "."}},
    {"the end of a line-\012\302\240 ", {"the", "end", "of", "a", "line-"}},
    {"3-4 x-4 3-x --3-- '3' '' \177", {"3", "-", "4", "x-4", "3", "-", "x", "--3", "-", "-", "'3'", "''", "\177"}},
};

struct BleuSample {
  std::string name;
  std::vector<std::string> translations;
  std::vector<std::vector<std::string>> references;
  double score;
  std::vector<double> precisions;
  double brevity_penalty;
  int64_t translation_length, reference_length;
  std::vector<int64_t> matches, totals;
};
inline const std::vector<BleuSample> kBleuSamples = {
    {"one",
     {"The cat sat on the mat."},
     {{"The cat sat on the mat."}},
     100.00000000000004, {100.0, 100.0, 100.0, 100.0}, 1.0, 7, 7,
     {7, 6, 5, 4}, {7, 6, 5, 4}},
    {"mixed",
     {"The cat is sitting on the mat.", "It costs $1,000.50 or 3.5% more.", "He did not say anything about it yesterday.", "Die Sonne scheint heute \303\274ber dem See.", ""},
     {{"The cat sat on the mat."}, {"It costs $1,000.50, or 3.5 % more."}, {"Yesterday he said nothing at all about it."}, {"Heute scheint die Sonne \303\274ber dem See."}, {"Nothing was written here."}},
     35.23813117654752, {70.58823529411765, 50.0, 34.61538461538461, 22.727272727272727}, 0.8632431969112069, 34, 39,
     {24, 15, 9, 5}, {34, 30, 26, 22}},
    {"two references",
     {"the the the the the the the", "a guide to action which ensures that the troops always obey the orders of the party", "a b c d"},
     {{"the cat is on the mat", "there is a cat on the mat"}, {"a guide to action that ensures that the troops will forever heed the orders of the party", "the guiding principle which guarantees the troops always being under its command"}, {"a b", "a b c d e f"}},
     49.49514857505952, {77.77777777777777, 58.333333333333336, 47.61904761904762, 27.77777777777778}, 1.0, 27, 26,
     {21, 14, 10, 5}, {27, 24, 21, 18}},
    {"no fourgrams match",
     {"a small house by a lake", "one two three x four"},
     {{"a small hut by a lake shore"}, {"one two y three four"}},
     24.51382040442773, {81.81818181818181, 44.44444444444444, 14.285714285714286, 10.0}, 0.9131007162822624, 11, 12,
     {9, 4, 1, 0}, {11, 9, 7, 5}},
    {"unigrams alone match",
     {"d c b a"},
     {{"a b c d"}},
     22.59005009024613, {100.0, 16.666666666666668, 12.5, 12.5}, 1.0, 4, 4,
     {4, 0, 0, 0}, {4, 3, 2, 1}},
    {"three tokens",
     {"a b c"},
     {{"a b c"}},
     0.0, {100.0, 100.0, 100.0, 0.0}, 1.0, 3, 3,
     {3, 2, 1, 0}, {3, 2, 1, 0}},
    {"nothing matches",
     {"x y z u v"},
     {{"a b c d e"}},
     0.0, {0.0, 0.0, 0.0, 0.0}, 1.0, 5, 5,
     {0, 0, 0, 0}, {5, 4, 3, 2}},
    {"nothing written",
     {"", " "},
     {{"a b c d"}, {"e"}},
     0.0, {0.0, 0.0, 0.0, 0.0}, 0.0, 0, 5,
     {0, 0, 0, 0}, {0, 0, 0, 0}},
    {"nothing wanted",
     {""},
     {{""}},
     0.0, {0.0, 0.0, 0.0, 0.0}, 1.0, 0, 0,
     {0, 0, 0, 0}, {0, 0, 0, 0}},
    {"too short",
     {"the cat sat on"},
     {{"the cat sat on the mat and slept there all day"}},
     17.37739434504452, {100.0, 100.0, 100.0, 100.0}, 0.17377394345044514, 4, 11,
     {4, 3, 2, 1}, {4, 3, 2, 1}},
    {"too long",
     {"the cat sat on the mat and slept there all day"},
     {{"the cat sat on the mat"}},
     46.17366309441026, {54.54545454545455, 50.0, 44.44444444444444, 37.5}, 1.0, 11, 6,
     {6, 5, 4, 3}, {11, 10, 9, 8}},
};

}  // namespace fovea::testing
