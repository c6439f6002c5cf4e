"""Descriptor tables, as the plug-in and the runtime make them, against the library's reflection."""

from __future__ import annotations

import random
import subprocess
from pathlib import Path

from protobuf_programs import PROGRAMS, compile_test

from rackwright.machine.server import run

COMPARISON = ["tables", "tables_of_enums", "tables_of_maps"]
EXPECTED = """\
rackwright.tests.Leaf: parses serializes
rackwright.tests.Everything.Inner: parses serializes
rackwright.tests.Everything: parses serializes
rackwright.tests.Maps: parses serializes required
rackwright.tests.Mixed.Pair: parses serializes
rackwright.tests.Mixed.Triple: parses serializes
google.protobuf.Any: parses serializes
google.protobuf.Timestamp: parses serializes
rackwright.tests.Mixed: parses serializes
rackwright.tests.Extended: parses serializes
rackwright.tests.Strict: parses serializes required
rackwright.tests.Empty: parses serializes
rackwright.tests.Wide: - -
rackwright.tests.Modern: parses serializes
"""

SCALARS = ("int32", "uint64", "sint32", "fixed32", "sfixed64", "float", "double", "bool", "string", "bytes")

ENUMS = ("Near", "Wide", "Groups", "Flags", "Far")


def random_enum(draw: random.Random, name: str) -> str:
    """An enum of a kind: values near each other, with gaps, in groups, powers of two, anywhere."""
    values = {
        "Near": draw.sample(range(-20, 20), 12),
        "Wide": draw.sample(range(900), 300),
        "Groups": [1000 * group + value for group in range(12) for value in range(draw.randint(1, 9))],
        "Flags": [0, *(1 << bit for bit in range(31))],
        "Far": [draw.randrange(-(1 << 31), 1 << 31) for _ in range(60)],
    }[name]
    return f"enum {name} {{ {' '.join(f'{name}{i} = {value};' for i, value in enumerate(values))} }}"


def random_schema(draw: random.Random, messages: int = 24) -> str:
    """A schema whose messages have random fields, many in a oneof, numbers far apart and out of order."""
    lines = ['syntax = "proto2";', "package tables;", "enum Kind { A = 0; B = 1; C = 7; }"]
    lines += [random_enum(draw, name) for name in ENUMS]
    names = [f"M{index}" for index in range(messages)]
    for name in names:
        lines.append(f"message {name} {{")
        count = draw.choice((1, 3, 9, 40))
        numbers = draw.sample(range(1, 4 * count + 2), count)
        in_oneof = draw.randint(0, count // 3)
        kinds = [draw.choice((*SCALARS, "Kind", draw.choice(ENUMS), draw.choice(names))) for _ in numbers]
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
