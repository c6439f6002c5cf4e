"""What a core does while it sends commands to a unit."""

from __future__ import annotations

from pathlib import Path

import pytest

from rackwright import compile_program, run

PROGRAM = """
#include <stdio.h>
#include "rackwright/rocc.h"
int main(void)
{
    uint64_t start = 0, end = 0;
    for (int warm = 0; warm < 2; warm++) {
        start = rackwright_cycles();
        for (int i = 0; i < 1000; i++) RACKWRIGHT_COMMAND(2, 1, 0, 0);
        end = rackwright_cycles();
    }
    printf("%d", (int)(end - start));
    return 0;
}
"""


# Reading the counter waits for all that came before: 13 cycles on BOOM (validation/boom), once a loop.
@pytest.mark.parametrize(("cpu", "least", "most"), [("boom", 1.0, 2.05), ("rocket", 1.0, 6.0)])
def test_commands_leave_without_emptying_the_pipeline(
    cpu: str, least: float, most: float, tmp_path: Path
) -> None:
    source = tmp_path / "commands.c"
    source.write_text(PROGRAM)
    program = compile_program([source], tmp_path / "commands.elf")
    result = run(program, cpu=cpu, accelerators=["stream-copy"])
    assert least <= int(result.stdout) / 1000 <= most
