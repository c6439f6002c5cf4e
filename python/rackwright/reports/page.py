"""One self-contained HTML page: the style of all reports."""

from __future__ import annotations

from html import escape
from string import Template

_PAGE = Template(
    """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>$title</title>
<style>
:root { color-scheme: light dark; --ink: #1c2733; --soft: #5c6b7a; --line: #dde3ea;
  --paper: #ffffff; --card: #f6f8fa; --host: #8a97a6; --core: #4b82c4; --unit: #d9722e; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6ebf0; --soft: #9aa7b4; --line: #31404f;
  --paper: #141b22; --card: #1b242d; --host: #7d8a99; --core: #5c94d8; --unit: #e88a4a; } }
body { margin: 0 auto; max-width: 1280px; padding: 2.5rem 1.5rem; background: var(--paper);
  color: var(--ink); font: 16px/1.5 system-ui, sans-serif; }
h1 { font-size: 1.9rem; margin: 0 0 .3rem; }
h2 { font-size: 1.2rem; margin: 2.2rem 0 .8rem; }
p.lead { color: var(--soft); margin: 0 0 1.5rem; }
.headlines { display: flex; flex-wrap: wrap; gap: 1rem; }
.headline { background: var(--card); border-radius: 10px; padding: 1rem 1.3rem; flex: 1 1 15rem; }
.headline b { display: block; font-size: 1.7rem; color: var(--unit); }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-size: .86rem; }
th, td { padding: .42rem .6rem; border-bottom: 1px solid var(--line); white-space: nowrap; }
th { text-align: left; color: var(--soft); font-weight: 600; }
.right { text-align: right; font-variant-numeric: tabular-nums; }
tr.unit td { font-weight: 600; }
.charts { display: grid; grid-template-columns: repeat(auto-fit, minmax(420px, 1fr)); gap: 1.5rem; }
svg { width: 100%; height: auto; background: var(--card); border-radius: 10px; padding: 1rem;
  box-sizing: border-box; }
svg text { fill: var(--ink); font: 14px system-ui, sans-serif; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .3rem 1.2rem; font-size: .92rem; }
dt { font-weight: 600; } dd { margin: 0; color: var(--soft); overflow-wrap: anywhere; }
</style>
</head>
<body>
$body
</body>
</html>
"""
)


def page(title: str, body: str) -> str:
    """The page around `body`, which is HTML."""
    return _PAGE.substitute(title=escape(title), body=body)


def definitions(pairs: dict[str, str]) -> str:
    """Terms and their meanings, for a `<dl>`."""
    return "".join(f"<dt>{escape(name)}</dt><dd>{escape(text)}</dd>" for name, text in pairs.items())
