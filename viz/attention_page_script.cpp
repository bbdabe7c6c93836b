#include "fovea/viz/attention_page_parts.h"

namespace fovea {

// Weights come as whole thousandths, heads x (target x source); -1 is NaN. Tokens are only ever
// read and written as text.
const char* const kAttentionScript = R"js(
(() => {
'use strict';
const redraws = [];
let head = -1;  // the mean

function explore(section) {
  const heads = JSON.parse(section.querySelector('script').textContent);
  const find = (what) => section.querySelector(what);
  const source = [...section.querySelectorAll('.source .token')];
  const target = [...section.querySelectorAll('.target .token')];
  const rows = {source, target}, S = source.length, T = target.length;
  const flow = find('.flow'), lines = find('.lines'), canvas = find('canvas');
  const reading = find('.reading');
  let grid = [], pinned = null, shown = null;

  function choose() {
    const of = (h, i) => h[i] < 0 ? NaN : h[i] / 1000;
    grid = heads[0].map((_, i) => head >= 0 ? of(heads[head], i)
        : heads.reduce((sum, h) => sum + of(h, i), 0) / heads.length);
  }
  const weight = (t, s) => grid[t * S + s];
  // What the chosen token sees, or is seen by: [index, weight] of the other row.
  const partners = ({side, index}) => side === 'target'
      ? source.map((_, s) => [s, weight(index, s)]) : target.map((_, t) => [t, weight(t, index)]);

  function paintTokens() {
    for (const token of [...source, ...target]) {
      token.classList.remove('lit', 'strong', 'unknown', 'on', 'met');
      token.setAttribute('aria-pressed', 'false');
    }
    if (!shown) return;
    const chosen = rows[shown.side][shown.index];
    chosen.classList.add('on');
    chosen.setAttribute('aria-pressed', String(pinned !== null));
    const others = shown.side === 'target' ? source : target;
    if ('met' in shown) source[shown.met].classList.add('met');
    for (const [i, w] of partners(shown)) {
      others[i].classList.add(w >= 0 ? 'lit' : 'unknown');
      others[i].classList.toggle('strong', w >= 0.6);
      others[i].style.setProperty('--w', w >= 0 ? w : 0);
    }
  }

  function paintLines() {
    const box = flow.getBoundingClientRect();
    const point = (token, bottom) => {
      const r = token.getBoundingClientRect();
      return [r.left + r.width / 2 - box.left, (bottom ? r.bottom + 2 : r.top - 2) - box.top];
    };
    // Over rows that are broken into lines, all at once would cross the tokens.
    const broken = [source, target].some((row) => row[0].offsetTop !== row.at(-1).offsetTop);
    if (broken && !shown) return lines.replaceChildren();
    const from = source.map((e) => point(e, true)), to = target.map((e) => point(e, false));
    const paths = [];
    for (let t = 0; t < T; ++t) {
      for (let s = 0; s < S; ++s) {
        const w = weight(t, s);
        if (!(w >= (shown ? 0.01 : 0.05))) continue;
        if (shown && shown.index !== (shown.side === 'target' ? t : s)) continue;
        const [a, b] = from[s], [c, d] = to[t], m = (b + d) / 2;
        const path = document.createElementNS('http://www.w3.org/2000/svg', 'path');
        path.setAttribute('d', `M${a} ${b}C${a} ${m} ${c} ${m} ${c} ${d}`);
        path.setAttribute('stroke-width', 1 + 3 * w);
        path.setAttribute('stroke-opacity', shown ? 0.15 + 0.85 * w : 0.55 * w);
        paths.push(path);
      }
    }
    lines.replaceChildren(...paths);
  }

  const cell = Math.max(2, Math.min(18, Math.floor(240 / Math.max(S, T))));
  function paintMap() {
    const dpr = Math.min(3, window.devicePixelRatio || 1), gap = cell >= 8 ? 1 : 0;
    canvas.width = S * cell * dpr;
    canvas.height = T * cell * dpr;
    canvas.style.width = S * cell + 'px';
    canvas.style.height = T * cell + 'px';
    const c = canvas.getContext('2d'), style = getComputedStyle(section);
    const accent = style.getPropertyValue('--accent'), chip = style.getPropertyValue('--chip');
    c.scale(dpr, dpr);
    for (let t = 0; t < T; ++t) {
      for (let s = 0; s < S; ++s) {
        const w = weight(t, s), x = s * cell, y = t * cell, side = cell - gap;
        c.fillStyle = chip;
        c.fillRect(x, y, side, side);
        c.fillStyle = w >= 0 ? `rgba(${accent}, ${w})` : style.getPropertyValue('--line');
        c.fillRect(x, y, side, side);
        if (w >= 0) continue;
        c.strokeStyle = style.getPropertyValue('--soft');
        c.beginPath();
        c.moveTo(x, y + side);
        c.lineTo(x + side, y);
        c.stroke();
      }
    }
    if (!shown) return;
    c.strokeStyle = `rgb(${accent})`;
    c.lineWidth = 2;
    if (shown.side === 'target') c.strokeRect(1, shown.index * cell, S * cell - 2, cell);
    if ('met' in shown) c.strokeRect(shown.met * cell, shown.index * cell, cell, cell);
    if (shown.side === 'source') c.strokeRect(shown.index * cell, 1, cell, T * cell - 2);
  }

  function say() {
    reading.replaceChildren();
    if (!shown) return;
    const bold = (text) => {
      const b = document.createElement('b');
      b.textContent = text;
      return b;
    };
    const others = shown.side === 'target' ? source : target, all = partners(shown);
    const most = all.filter(([, w]) => w >= 0.01).sort((a, b) => b[1] - a[1]);
    if ('met' in shown) {
      const w = weight(shown.index, shown.met);
      reading.append(bold(target[shown.index].textContent), ' at ',
          bold(source[shown.met].textContent), w >= 0 ? ` ${w.toFixed(3)}. ` : ' NaN. ');
    }
    reading.append(bold(rows[shown.side][shown.index].textContent),
        shown.side === 'target' ? ' looked at ' : ' was looked at by ');
    most.slice(0, 5).forEach(([i, w], k) =>
        reading.append(k ? ', ' : '', bold(others[i].textContent), ' ' + w.toFixed(2)));
    if (most.length > 5) reading.append(`, and ${most.length - 5} more`);
    const unknown = all.filter(([, w]) => !(w >= 0)).length;
    if (!most.length && !unknown) reading.append('nothing');
    if (unknown) reading.append(`${most.length ? '; ' : ''}NaN at ${unknown}`);
  }

  function show(what) {
    shown = what;
    paintTokens();
    paintLines();
    paintMap();
    say();
  }
  const place = (element) => {
    const token = element.closest && element.closest('.token');
    if (!token) return null;
    const side = target.includes(token) ? 'target' : 'source';
    return {side, index: rows[side].indexOf(token)};
  };
  const same = (a, b) => a && b && a.side === b.side && a.index === b.index && a.met === b.met;
  const rest = () => {
    const focused = flow.querySelector('.token:focus-visible');
    show(pinned || (focused && place(focused)));
  };
  const pin = (at, event) => {
    pinned = same(pinned, at) ? null : at;
    show(pinned || (event.pointerType === 'touch' ? null : at));
  };
  const cellAt = (event) => {
    const box = canvas.getBoundingClientRect();
    const clamp = (i, n) => Math.max(0, Math.min(n - 1, Math.floor(i / cell)));
    return {side: 'target', index: clamp(event.clientY - box.top, T),
      met: clamp(event.clientX - box.left, S)};
  };

  flow.addEventListener('pointerover', (e) => {
    const at = place(e.target);
    if (at && e.pointerType === 'mouse') show(at);
  });
  flow.addEventListener('pointerleave', rest);
  flow.addEventListener('focusin', (e) => {
    const at = place(e.target);
    for (const token of rows[at.side]) token.tabIndex = -1;
    e.target.tabIndex = 0;
    show(at);
  });
  flow.addEventListener('focusout', rest);
  flow.addEventListener('click', (e) => {
    const at = place(e.target);
    if (at) pin(at, e);
  });
  flow.addEventListener('keydown', (e) => {
    const at = place(e.target), row = at && rows[at.side];
    if (!at) return;
    const other = at.side === 'source' ? target : source;
    const across = Math.round(at.index * (other.length - 1) / Math.max(1, row.length - 1));
    const next = {ArrowLeft: row[at.index - 1], ArrowRight: row[at.index + 1], Home: row[0],
      End: row[row.length - 1], ArrowUp: at.side === 'target' && other[across],
      ArrowDown: at.side === 'source' && other[across]}[e.key];
    if (e.key === 'Escape') {
      pinned = null;
      show(null);
    } else if (next) {
      next.focus();
      e.preventDefault();
    }
  });
  canvas.addEventListener('pointermove', (e) => {
    if (e.pointerType === 'mouse' && !same(cellAt(e), shown)) show(cellAt(e));
  });
  canvas.addEventListener('pointerleave', rest);
  canvas.addEventListener('click', (e) => pin(cellAt(e), e));

  for (const row of [source, target]) row.forEach((token, i) => { token.tabIndex = i ? -1 : 0; });
  redraws.push((chosen) => { if (chosen) choose(); show(shown); });
  new ResizeObserver(paintLines).observe(flow);
  choose();
  show(null);
}

document.querySelectorAll('.example').forEach(explore);
for (const input of document.querySelectorAll('.heads input')) {
  input.addEventListener('change', () => {
    head = Number(input.value);
    for (const redraw of redraws) redraw(true);
  });
}
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => {
  for (const redraw of redraws) redraw(false);
});
})();
)js";

}  // namespace fovea
