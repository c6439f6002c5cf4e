"""The official conformance suite's binary cases, by its rules, through the units in both directions."""

from __future__ import annotations

import struct
from pathlib import Path

from protobuf_conformance import Case, cases, protos
from protobuf_programs import compile_test

from rackwright.machine.server import run
from rackwright.protobuf.measure import UNITS

LEFT_TO_THE_LIBRARY = (
    "group",
    "message set",
    "message set, other order",
    "key in two entries",
    "values of a key are not merged",
    "to message, nothing",
    "to message, no value",
)
"""How the names of cases end that the units do not take; docs/accelerate-my-messages.md has the reasons."""


def record(case: Case) -> bytes:
    """A case as the program reads it."""
    parts = (case.name.encode(), case.message.encode(), case.data, case.expected)
    return b"".join(
        struct.pack("<I", 0xFFFFFFFF if part is None else len(part)) + (part or b"") for part in parts
    )


def test_every_case_ends_as_the_rules_say(tmp_path: Path) -> None:
    for name, text in protos().items():
        (tmp_path / name).write_text(text)
    listed = list(cases())
    file = tmp_path / "cases.bin"
    file.write_bytes(b"".join(map(record, listed)))
    program = compile_test(["conformance"], [tmp_path / name for name in protos()], tmp_path)
    result = run(program, [str(file)], cpu="functional", accelerators=list(UNITS.values()))
    assert result.stderr.decode() == ""
    count, *left = result.stdout.decode().splitlines()
    assert int(count) == len(listed) > 1000
    names = {line.rsplit(" ", 1)[0] for line in left}
    assert {name for name in names if not name.endswith(LEFT_TO_THE_LIBRARY)} == set()
    for ending in LEFT_TO_THE_LIBRARY:
        assert any(name.endswith(ending) for name in names), f"{ending} is the units' now"
