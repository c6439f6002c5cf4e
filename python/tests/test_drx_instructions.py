"""The pages about instructions of DRX are what is generated, and what they show is what the unit does.

`pytest tests/test_drx_instructions.py --update-docs` writes them anew.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from rackwright.documentation.instructions import Case, pages, texts
from rackwright.drx import Configuration, Program
from rackwright.drx.isa import isa
from rackwright.drx.machine import run_model

DOCS = Path(__file__).parents[2] / "docs"
SMALL = Configuration(lanes=8, scratchpad_kib=4, banks=2)
DTYPES = {"u8": "u1", "i8": "i1", "u16": "<u2", "i16": "<i2", "i32": "<i4", "f32": "<f4"}

CASES = [(name, case) for name, text in texts().items() for case in text.cases]


def test_the_pages_are_those_of_the_instruction_set(request: pytest.FixtureRequest) -> None:
    wanted = pages()
    folder = DOCS / "instructions"
    if request.config.getoption("--update-docs"):
        folder.mkdir(exist_ok=True)
        for old in folder.glob("*.md"):
            old.unlink()
        for path, text in wanted.items():
            (DOCS / path).write_text(text, encoding="utf-8")
    assert {f"instructions/{path.name}" for path in folder.glob("*.md")} | {
        "instructions.md"
    } == wanted.keys()
    assert [path for path, text in wanted.items() if (DOCS / path).read_text(encoding="utf-8") != text] == []


def test_every_instruction_has_a_text_and_shows_what_it_does() -> None:
    assert texts().keys() == isa().functions.keys()
    assert [name for name, text in texts().items() if not (text.example or text.cases)] == []


@pytest.mark.parametrize("name", [name for name, text in texts().items() if text.example])
def test_an_example_runs(name: str) -> None:
    program = Program.from_text(texts()[name].example)
    assert name in [each.name for each in program.instructions]
    assert run_model(program, [bytes(64)], 64, SMALL).status == "ok"


@pytest.mark.parametrize(("name", "case"), CASES, ids=[f"{name}-{case.types[0]}" for name, case in CASES])
def test_elements_are_those_of_the_unit(name: str, case: Case) -> None:
    """Each operand is in 256 bytes of its own; the destination is the last one."""
    count = len(case.result)
    arrays = [*case.sources, case.before or (0,) * count]
    types = [*case.types[1 : 1 + len(case.sources)], case.types[0]]
    data = b"".join(
        np.array(numbers, DTYPES[of]).tobytes().ljust(256, b"\0")
        for numbers, of in zip(arrays, types, strict=True)
    )
    lines = ["region calculator=15 region=1", f"load scratchpad=14 memory=15 size={len(data)}", "wait_loads"]
    for place, of in enumerate(types):
        lines.append(f"base calculator={place} value={256 * place}")
        lines.append(f"format calculator={place} type={of} value={np.dtype(DTYPES[of]).itemsize}")
    last = len(types) - 1
    sources = "first=0" if last == 1 else "first=0 second=1"
    lines += [f"length value={count}", f"{name} destination={last} {sources}"]
    lines += [f"store scratchpad={last} memory=13 size=64", "end"]
    ended = run_model(Program.from_text("\n".join(lines)), [data], 64, SMALL)
    assert ended.status == "ok"
    found = np.frombuffer(ended.output, DTYPES[types[-1]])[:count]
    assert found.tolist() == np.array(case.result, DTYPES[types[-1]]).tolist()
