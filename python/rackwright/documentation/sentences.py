"""Sentences of the documentation, drawn by seed: `python -m rackwright.documentation.sentences SEED`.

A reader of the field reads them, and rewrites each at which they stumble; then the draw is repeated.
"""

from __future__ import annotations

import random
import re
import sys
from collections.abc import Iterator

from bootstrap.paths import REPOSITORY
from rackwright.reports.history import git

COUNT = 60

_NO_PROSE = re.compile(r"^```.*?^```|^<!--.*?-->|^ {4}.*?$|^#.*?$|^\|.*?$", re.MULTILINE | re.DOTALL)
"""Code, comments, headings and tables."""

_END = re.compile(r"(?<=[.!?])(?<!e\.g\.)(?<!i\.e\.)\s+(?=[A-Z`*\[])")


def sentences(text: str) -> Iterator[str]:
    """The sentences of a Markdown page, each on one line, except those of three words or fewer."""
    prose = _NO_PROSE.sub("\n\n", text)
    for paragraph in re.split(r"\n\s*\n|^\s*(?:[-*]|\d+\.) ", prose, flags=re.MULTILINE):
        for sentence in _END.split(" ".join(paragraph.split())):
            if len(sentence.split()) > 3:
                yield sentence


def draw(seed: int, count: int = COUNT) -> list[tuple[str, str]]:
    """`count` sentences, each after its page: the same for a seed while the pages are."""
    pages = sorted(name for name in git("ls-files", "*.md").split() if name != "CHANGELOG.md")
    texts = {page: (REPOSITORY / page).read_text(encoding="utf-8") for page in pages}
    found = [(page, sentence) for page, text in texts.items() for sentence in sentences(text)]
    return random.Random(seed).sample(found, count)


if __name__ == "__main__":
    for page, sentence in draw(int(sys.argv[1])):
        print(f"{page}: {sentence}")
