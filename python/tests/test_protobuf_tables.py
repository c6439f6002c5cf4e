"""Descriptor tables, as the plug-in and the runtime make them, against the library's reflection."""

from __future__ import annotations

import random
import subprocess
from pathlib import Path

from protobuf_programs import PROGRAMS, compile_test

from rackwright.server import run

COMPARISON = ["tables", "tables_of_maps"]
EXPECTED = """\
rackwright.tests.Leaf: parses serializes
rackwright.tests.Everything.Inner: parses serializes
rackwright.tests.Everything: parses serializes
rackwright.tests.Maps: parses serializes required
rackwright.tests.Mixed.Pair: parses serializes
google.protobuf.Timestamp: parses serializes
rackwright.tests.Mixed: parses -
rackwright.tests.Strict: parses serializes required
rackwright.tests.Empty: parses serializes
rackwright.tests.Wide: - -
rackwright.tests.Modern: parses serializes
"""

SCALARS = ("int32", "uint64", "sint32", "fixed32", "sfixed64", "float", "double", "bool", "string", "bytes")


def random_schema(draw: random.Random, messages: int = 24) -> str:
    """A schema whose messages have random fields, many in a oneof, numbers far apart and out of order."""
    lines = ['syntax = "proto2";', "package tables;", "enum Kind { A = 0; B = 1; C = 7; }"]
    names = [f"M{index}" for index in range(messages)]
    for name in names:
        lines.append(f"message {name} {{")
        count = draw.choice((1, 3, 9, 40))
        numbers = draw.sample(range(1, 4 * count + 2), count)
        in_oneof = draw.randint(0, count // 3)
        kinds = [draw.choice((*SCALARS, "Kind", draw.choice(names))) for _ in numbers]
        fields = [f"{kind} f{number} = {number}" for kind, number in zip(kinds, numbers, strict=True)]
        if in_oneof:
            lines += ["oneof one {", *(f"{field};" for field in fields[:in_oneof]), "}"]
        lines += [
            f"{draw.choice(('optional', 'optional', 'required', 'repeated'))} {field};"
            for field in fields[in_oneof:]
        ]
        lines.append("}")
    return "\n".join(lines)


def test_tables_say_where_objects_change(tmp_path: Path) -> None:
    program = compile_test(COMPARISON, [PROGRAMS / "everything.proto", PROGRAMS / "modern.proto"], tmp_path)
    result = run(program, cpu="functional")
    assert result.stderr == b""
    assert sorted(result.stdout.decode().splitlines()) == sorted(EXPECTED.splitlines())


def test_tables_of_random_schemas(tmp_path: Path) -> None:
    proto = tmp_path / "random.proto"
    proto.write_text(random_schema(random.Random(12)))
    program = compile_test(COMPARISON, [proto], tmp_path, machine="host")
    result = subprocess.run([program], capture_output=True, text=True, check=False)
    assert result.stderr == ""
    assert len(result.stdout.splitlines()) == 24
