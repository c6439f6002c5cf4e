"""Values for each scalar type of a message that its encoding treats differently."""

from __future__ import annotations

from typing import Any

from rackwright.verification.protobuf_schema import Kind

VARINTS = [0, 1, 127, 128, 300, (1 << 21) - 1, 1 << 28, (1 << 31) - 1]
SIGNED = [-1, -2, -(1 << 31)]
WIDE = [1 << 32, *(1 << bits for bits in range(35, 63, 7)), (1 << 56) + 5, (1 << 63) - 1]

SAMPLES: dict[Kind, list[Any]] = {
    Kind.DOUBLE: [0.0, -0.0, 1.5, float("inf"), float("nan"), 5e-324],
    Kind.FLOAT: [0.0, -0.0, 1.5, float("-inf"), float("nan")],
    Kind.INT64: VARINTS + SIGNED + WIDE + [-(1 << 63)],
    Kind.UINT64: [*VARINTS, *WIDE, (1 << 64) - 1],
    Kind.INT32: VARINTS + SIGNED,
    Kind.FIXED64: [0, 1, (1 << 64) - 1],
    Kind.FIXED32: [0, 1, (1 << 32) - 1],
    Kind.BOOL: [False, True],
    Kind.UINT32: [*VARINTS, (1 << 32) - 1],
    Kind.ENUM: VARINTS + SIGNED,
    Kind.SFIXED32: [0, -1, -(1 << 31)],
    Kind.SFIXED64: [0, -1, -(1 << 63)],
    Kind.SINT32: VARINTS + SIGNED,
    Kind.SINT64: VARINTS + SIGNED + WIDE + [-(1 << 63)],
}
