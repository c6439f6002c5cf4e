"""A kernel as a program in C."""

from __future__ import annotations

import math
from enum import StrEnum

from bootstrap.paths import SOFTWARE
from rackwright.drx.harts.passes import NestCode, Pass
from rackwright.drx.harts.values import TYPES
from rackwright.drx.kernel import Kernel
from rackwright.drx.nest import nests_of

HEADERS = SOFTWARE / "drx"


class Way(StrEnum):
    """The translation of operations on arrays to loops."""

    by_operation = "by-operation"
    """Each is a pass over arrays, with threads of its own, as in libraries of such operations."""

    fused = "fused"
    """One pass, with threads that stay."""


def program_text(kernel: Kernel, way: Way) -> str:
    """The program in C; raises `RackwrightError` for unsupported expressions."""
    codes = [
        code.fused() if way is Way.fused else code.by_operation()
        for code in (NestCode(nest, number) for number, nest in enumerate(nests_of(kernel.trace())))
    ]
    stages = [stage for code in codes for stage in code.stages]
    if way is Way.fused:
        stages = [[each for stage in stages for each in stage]]
    arrays = [array for code in codes for array in code.arrays]
    kinds = {array.name: TYPES[array.element.name] for array in arrays}
    sizes = {array.name: math.prod(array.extents) for array in arrays}
    inputs = [kind.bytes for kind in kernel.parameters.values()]
    lines = [
        f"/* {kernel.name}, {way.value} */",
        '#include "functions.h"',
        '#include "harness.h"',
        "",
        f"const int input_count = {len(inputs)};",
        f"const long input_bytes[] = {{{', '.join(map(str, inputs))}}};",
        f"const void *inputs[{len(inputs)}];",
        f"const long output_bytes = {kernel.result.bytes};",
        "void *output;",
        *(f"static {kinds[name]} *{name}_place;" for name in kinds),
        "",
        "void reserve(void)",
        "{",
        *(f"    {name}_place = whole_lines({sizes[name]} * sizeof *{name}_place);" for name in kinds),
        "}",
        "",
        *(each.text for stage in stages for each in stage),
        *_stages(stages),
    ]
    return "\n".join(lines)


def _stages(stages: list[list[Pass]]) -> list[str]:
    lines = []
    for number, stage in enumerate(stages):
        passes = ", ".join(f"{{{each.name}, {each.items}}}" for each in stage)
        lines.append(f"static const struct pass passes{number}[] = {{{passes}}};")
    known = ", ".join(f"{{passes{number}, {len(stage)}}}" for number, stage in enumerate(stages))
    return [
        *lines,
        f"const struct stage stages[] = {{{known}}};",
        f"const int stage_count = {len(stages)};",
        "",
    ]
