"""The page's style sheet: both themes, print, and what the keyboard reaches."""

from __future__ import annotations

STYLE = """\
:root {
  color-scheme: light dark;
  --page: #ffffff; --ink: #1b1f24; --soft: #57606a; --line: #d0d7de; --panel: #f6f8fa; --link: #0757a8;
  --fill: #2f75b5; --bad: #b3261e; --good: #1a6b34; --gap1: #e3e7eb; --gap2: #c9d0d6;
}
@media (prefers-color-scheme: dark) {
  :root {
    --page: #14181d; --ink: #e4e8ec; --soft: #a3adb8; --line: #39424c; --panel: #1d232a; --link: #7cc0ff;
    --fill: #5b9bd5; --bad: #ff9d94; --good: #7fd99a; --gap1: #3a434d; --gap2: #2a3139;
  }
}
* { box-sizing: border-box; }
html { scroll-padding-top: 1rem; -webkit-text-size-adjust: 100%; }
body { margin: 0 auto; max-width: 76rem; padding: 1rem clamp(0.8rem, 3vw, 2.5rem) 3rem; background: var(--page);
  color: var(--ink); font: 1rem/1.5 system-ui, sans-serif; overflow-wrap: break-word; }
h1 { font-size: 1.7rem; line-height: 1.2; margin: 0.6rem 0 0.2rem; overflow-wrap: anywhere; }
h2 { font-size: 1.3rem; margin: 2.6rem 0 0.6rem; border-bottom: 1px solid var(--line); padding-bottom: 0.25rem; }
h3 { font-size: 1.05rem; margin: 1.6rem 0 0.4rem; overflow-wrap: anywhere; }
p { margin: 0.4rem 0; max-width: 48rem; }
a { color: var(--link); }
:focus-visible { outline: 3px solid var(--link); outline-offset: 2px; }
.skip { position: absolute; left: -99rem; }
.skip:focus { position: static; }
code, .mono { font-family: ui-monospace, "DejaVu Sans Mono", monospace; font-size: 0.9em; overflow-wrap: anywhere; }
.soft, caption, dt, small { color: var(--soft); }
.bad { color: var(--bad); }
.good { color: var(--good); }
nav ul { display: flex; flex-wrap: wrap; gap: 0.3rem 1.2rem; list-style: none; margin: 0.8rem 0; padding: 0; }
.faults { border: 1px solid var(--bad); border-left-width: 5px; border-radius: 4px; padding: 0.5rem 1rem; }
.faults ul { margin: 0.3rem 0; padding-left: 1.2rem; }
.faults li { overflow-wrap: anywhere; }
.figures { display: grid; grid-template-columns: repeat(auto-fit, minmax(9.5rem, 1fr)); gap: 0.6rem; margin: 0.8rem 0; }
.figures > div { background: var(--panel); border: 1px solid var(--line); border-radius: 6px; padding: 0.5rem 0.8rem; }
dt { font-size: 0.85rem; }
dd { margin: 0; overflow-wrap: anywhere; }
.figures dd { font-size: 1.15rem; font-weight: 600; }
.meanings dt { margin-top: 0.5rem; font-weight: 600; }
dd small { display: block; font-size: 0.8rem; font-weight: 400; }
.scroll { overflow-x: auto; margin: 0.6rem 0; }
table { border-collapse: collapse; min-width: 100%; font-variant-numeric: tabular-nums; }
caption { text-align: left; font-size: 0.85rem; padding-bottom: 0.2rem; }
th, td { text-align: left; vertical-align: top; padding: 0.25rem 1rem 0.25rem 0; border-bottom: 1px solid var(--line);
  font-weight: 400; }
th:last-child, td:last-child { padding-right: 0; }
thead th { font-weight: 600; white-space: nowrap; }
.n { text-align: right; white-space: nowrap; }
.words { display: inline-block; min-width: 13rem; }
tbody th { min-width: 8rem; overflow-wrap: anywhere; }
tr:target { background: color-mix(in srgb, var(--link) 18%, transparent); }
.address { white-space: nowrap; }
td small, th small { display: block; }
.digest { display: inline-block; min-width: 17ch; max-width: 33ch; font-size: 0.8em; line-height: 1.35; }
.digest.whole { max-width: none; }
.share { display: flex; align-items: center; gap: 0.5rem; min-width: 9rem; min-height: 1.5em; }
.share.alone { min-width: 3.5rem; }
.bar { flex: 1; height: 0.7rem; min-width: 3rem; background: var(--panel); border: 1px solid var(--line); }
.bar > span { display: block; height: 100%; background: var(--fill); }
.percent { flex: none; width: 4.2rem; text-align: right; }
.map { position: relative; margin: 0.8rem 0; }
.map .strip { display: flex; height: 3.6rem; border: 1px solid var(--line); border-radius: 3px; overflow: hidden; }
.map.fine .strip { height: 2rem; }
.seg { flex: 0 1 0; min-width: 3px; overflow: hidden; color: #14181d; text-decoration: none;
  box-shadow: inset 1px 0 var(--page); }
.seg:first-child { box-shadow: none; }
.seg .name { display: block; padding: 0.2rem 0.4rem; font-size: 0.8rem; line-height: 1.2; overflow: hidden;
  text-overflow: ellipsis; white-space: nowrap; }
.seg:hover, .seg:focus-visible { outline: 3px solid #14181d; outline-offset: -3px; }
.tip { display: none; position: absolute; left: 0; right: 0; bottom: 0; min-height: 1.6rem; padding: 0.2rem 0;
  background: var(--page); color: var(--ink); font-size: 0.85rem; line-height: 1.3; z-index: 1; }
.seg:focus .tip { display: block; }
.seg:hover .tip { display: block; z-index: 2; }
.hint { min-height: 1.6rem; padding: 0.2rem 0; font-size: 0.85rem; line-height: 1.3; color: var(--soft); }
.axis { position: relative; height: 1.3rem; font-size: 0.75rem; color: var(--soft); }
.axis span { position: absolute; padding-left: 0.25rem; border-left: 1px solid var(--soft); line-height: 1.3rem; }
.swatch { display: inline-block; width: 0.8rem; height: 0.8rem; margin-right: 0.45rem; border: 1px solid var(--line);
  vertical-align: -0.05rem; }
.c0 { background: #8ecae6; } .c1 { background: #f6c667; } .c2 { background: #a7d49b; } .c3 { background: #e5a5c7; }
.c4 { background: #c3b1e1; } .c5 { background: #f4a58a; } .c6 { background: #9adbd0; } .c7 { background: #d9d38a; }
.gap { background: repeating-linear-gradient(45deg, var(--gap1) 0 4px, var(--gap2) 4px 8px); color: var(--ink); }
.unread { background: repeating-linear-gradient(45deg, #f4a58a 0 4px, #b3261e 4px 8px); }
.reserved { background: repeating-linear-gradient(45deg, #b9c0c7 0 6px, #8e979f 6px 12px); }
.columns { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 24rem), 1fr)); gap: 0 2.5rem; }
details { border: 1px solid var(--line); border-radius: 6px; margin: 0.6rem 0; padding: 0 0.8rem; }
summary { cursor: pointer; padding: 0.5rem 0; }
summary .soft { margin-left: 0.5rem; }
details[open] > summary { border-bottom: 1px solid var(--line); }
details details { margin-left: 0; }
.inputs { margin: 0.5rem 0; padding-left: 1.2rem; font-size: 0.9rem; }
footer { margin-top: 3rem; border-top: 1px solid var(--line); padding-top: 0.6rem; font-size: 0.85rem;
  color: var(--soft); }
@media (max-width: 34rem) {
  h1 { font-size: 1.35rem; }
  th, td { padding-right: 0.7rem; }
  .figures dd { font-size: 1rem; }
  .figures { grid-template-columns: repeat(auto-fit, minmax(8rem, 1fr)); }
  table { font-size: 0.9rem; }
  .sections tbody th { min-width: 15.5rem; }
  .files tbody th { min-width: 13.5rem; }
  .bar { min-width: 2rem; }
  .digest.whole { max-width: 17ch; }
  .sections .digest, .files .digest { min-width: 33ch; }
  .tip, .hint { min-height: 2.7rem; }
}
@page { margin: 14mm; }
@media print {
  :root { color-scheme: light; --page: #fff; --ink: #000; --soft: #444; --line: #999; --panel: #fff; --link: #000;
    --fill: #555; --gap1: #eee; --gap2: #ccc; --bad: #000; --good: #000; }
  body { max-width: none; padding: 0; font-size: 9.5pt; }
  nav, .skip, .hint, .tip { display: none !important; }
  .seg, .bar > span, .swatch { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
  .scroll { overflow: visible; }
  details::details-content { content-visibility: visible; block-size: auto; opacity: 1; }
  h2, h3, summary, caption { break-after: avoid; }
  tr, .map, .figures > div { break-inside: avoid; }
}
"""
