#include "fovea/viz/attention_page_parts.h"

namespace fovea {

// The accent is a colour of color_map.h; a weight is its opacity, over either theme.
const char* const kAttentionStyle = R"css(
:root {
  color-scheme: light dark;
  --page: #f5f6f8; --card: #fff; --ink: #1f2630; --soft: #5a6370; --line: #dde1e7; --chip: #f1f3f6;
  --accent: 16, 74, 150; --on-accent: #fff; --right: #12703c; --wrong: #b42323;
}
@media (prefers-color-scheme: dark) {
  :root {
    --page: #121519; --card: #1a1e24; --ink: #e4e8ee; --soft: #9ba5b3; --line: #303742;
    --chip: #242a32; --accent: 124, 184, 255; --on-accent: #0a1220; --right: #5fce8d;
    --wrong: #ff8f8a;
  }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--ink); line-height: 1.5; font-size: 15px; }
main { max-width: 1080px; margin: 0 auto; padding: 32px 20px 64px; }
h1 { font-size: 26px; font-weight: 650; letter-spacing: -.01em; line-height: 1.25; margin: 0; }
h2 { font-size: 16px; font-weight: 650; margin: 0; overflow-wrap: anywhere; }
.subtitle, .hint { color: var(--soft); margin: 6px 0 0; max-width: 72ch; }
.hint { font-size: 13px; }
.heads { position: sticky; top: 0; z-index: 2; display: flex; flex-wrap: wrap; gap: 6px; border: 0;
  margin: 20px 0 0; padding: 8px 0; background: var(--page); }
.heads legend { float: left; padding: 4px 8px 4px 0; color: var(--soft); font-size: 13px; }
.heads label { position: relative; cursor: pointer; }
.heads input { position: absolute; opacity: 0; inset: 0; margin: 0; cursor: pointer; }
.heads span { display: block; padding: 4px 12px; border: 1px solid var(--line); border-radius: 99px;
  background: var(--card); font-size: 13px; }
.heads input:checked + span { background: rgb(var(--accent)); color: var(--on-accent);
  border-color: transparent; }
.heads input:focus-visible + span, .token:focus-visible {
  outline: 2px solid rgb(var(--accent)); outline-offset: 2px; }
.example { margin-top: 16px; padding: 18px 20px 14px; background: var(--card);
  border: 1px solid var(--line); border-radius: 12px; }
.head { display: flex; flex-wrap: wrap; align-items: baseline; gap: 4px 12px; margin-bottom: 10px; }
.verdict { font-size: 13px; font-weight: 600; }
.verdict.right { color: var(--right); }
.verdict.wrong { color: var(--wrong); }
.expected { color: var(--soft); font-size: 13px; overflow-wrap: anywhere; }
.body { display: flex; flex-wrap: wrap; gap: 20px 32px; align-items: center; }
.flow { position: relative; flex: 1 1 380px; min-width: 0; }
.lines { position: absolute; inset: 0; width: 100%; height: 100%; pointer-events: none; }
.lines path { fill: none; stroke: rgb(var(--accent)); stroke-linecap: round; }
.side { display: block; color: var(--soft); font-size: 12px; line-height: 1.9; }
.tokens { display: flex; flex-wrap: wrap; gap: 6px; }
.row.target { display: flex; flex-direction: column-reverse; margin-top: 72px; }
.token { position: relative; min-width: 30px; padding: 4px 9px; border: 1px solid var(--line);
  border-radius: 7px; font: inherit; font-size: 16px; color: var(--ink); background: var(--chip);
  cursor: pointer; white-space: pre; max-width: 100%; overflow: hidden; text-overflow: ellipsis;
  unicode-bidi: isolate; touch-action: manipulation; }
.token.lit { background: linear-gradient(rgba(var(--accent), var(--w)), rgba(var(--accent), var(--w))),
  var(--chip); }
.token.strong { color: var(--on-accent); }
.token.unknown { border-style: dashed; }
.token.on { border-color: rgb(var(--accent)); box-shadow: 0 0 0 1px rgb(var(--accent)); }
.token.met { border-color: rgb(var(--accent)); }
.map { flex: none; max-width: 100%; overflow: auto; line-height: 0; }
.map canvas { cursor: crosshair; image-rendering: pixelated; }
.reading { min-height: 1.5em; margin: 10px 0 0; color: var(--soft); font-size: 13px;
  font-variant-numeric: tabular-nums; overflow-wrap: anywhere; }
.reading b { color: var(--ink); font-weight: 600; white-space: pre-wrap; }
@media (prefers-reduced-motion: no-preference) {
  .token { transition: background-color .12s, color .12s; }
}
)css";

}  // namespace fovea
