"""The units against the official library: random messages of random schemas, whole and damaged."""

from __future__ import annotations

import os
import random
from pathlib import Path

from protobuf_programs import PROGRAMS, compile_test
from test_protobuf_tables import random_schema

from rackwright.machine.server import run
from rackwright.protobuf.measure import UNITS

ROUNDS = 4000 if os.environ.get("RACKWRIGHT_LONG") == "1" else 12
"""Messages of each of the 33 classes."""


def test_units_and_library_agree(tmp_path: Path) -> None:
    proto = tmp_path / "random.proto"
    proto.write_text(random_schema(random.Random(21)))
    protos = [PROGRAMS / "everything.proto", PROGRAMS / "modern.proto", proto]
    program = compile_test(["differential"], protos, tmp_path)
    result = run(program, ["5", str(ROUNDS)], cpu="functional", accelerators=list(UNITS.values()))
    assert result.exit_code == 0, result.stderr.decode()
    parsed, serialized = map(int, result.stdout.split())
    assert parsed > 8 * ROUNDS
    assert serialized > 16 * ROUNDS
