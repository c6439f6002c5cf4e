"""The demo's corpus and the README's table of it: the same for everyone.

`pytest tests/test_demo_corpus.py --update-docs` measures the table again, for the README.
"""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path
from typing import Any

import pytest
from command_line import rw
from compilers import compiler_version

from rackwright.compression import libsnappy
from rackwright.demo.archive import default_archive
from rackwright.demo.corpus import corpus

README = Path(__file__).resolve().parents[2] / "README.md"
SHA256 = "b1d8d7af38cacef902082a42fcca1788f517eff3a74c35376689e9016a9023c5"

_TABLE = re.compile(r"(<!-- demo output -->\n\n)((?: {4}.*\n)+)")


def test_the_corpus_is_the_same_on_every_machine() -> None:
    data = default_archive()
    assert len(data) == 1 << 20
    assert hashlib.sha256(data).hexdigest() == SHA256
    assert data.startswith(corpus(1000))
    assert 2 < len(data) / len(libsnappy.compress(data)) < 3


def same_everywhere(row: dict[str, Any]) -> list[str]:
    """What of a row does not depend on the machine, as the table has it."""
    known = [row["operation"], row["target"], f"{row['uncompressed_bytes']:,}"]
    if row["cycles"] is None:
        return known
    return [*known, f"{row['ratio']:.3f}", f"{row['cycles']:,}", "yes", row["digest"][:8]]


@pytest.mark.skipif(compiler_version() != 12, reason="the README's cycles are those of GCC 12's code")
def test_the_readme_shows_what_the_demo_prints(tmp_path: Path, request: pytest.FixtureRequest) -> None:
    ended = rw("demo", "-o", tmp_path)
    assert ended.status == 0, ended.stderr
    text = README.read_text(encoding="utf-8")
    if request.config.getoption("--update-docs"):
        printed = "".join(f"    {line.rstrip()}\n" for line in ended.stdout.splitlines())
        text = _TABLE.sub(lambda match: match[1] + printed, text)
        README.write_text(text, encoding="utf-8")
    shown = _TABLE.search(text)
    assert shown is not None
    lines = [line.split() for line in shown[2].splitlines()[1:]]
    rows = json.loads((tmp_path / "demo.json").read_text(encoding="utf-8"))["rows"]
    assert len(lines) == len(rows)
    for words, row in zip(lines, rows, strict=True):
        assert [word for word in same_everywhere(row) if word not in words] == []
