"""Rocket in RTL with units beside it: their accesses are coherent with its caches."""

from __future__ import annotations

from pathlib import Path

import pytest
from command_line import rw

from rackwright import RunResult, Server, compile_bare_metal
from rackwright.errors import RackwrightError
from rackwright.hardware.headers import server_header
from rackwright.unit.accelerators import unit_manifest
from rackwright.unit.config import UnitConfig

UNIT = "snappy-decompress"

HEAD = """
#include "bare.h"
#include "rackwright/rocc.h"
#include "units.h"
#define COMMAND(funct, rs1, rs2) RACKWRIGHT_COMMAND(SNAPPY_DECOMPRESS_CUSTOM, funct, rs1, rs2)
enum { SIZE = 60, PLACES = 24 };
static uint8_t packed[2 + SIZE], memory[4096] __attribute__((aligned(64)));

/* Fills `packed` with a literal of SIZE bytes, other ones each time. */
static void pack(int time) {
    packed[0] = SIZE;
    packed[1] = (SIZE - 1) << 2;
    for (int byte = 0; byte < SIZE; byte++) packed[2 + byte] = (uint8_t)(time * 31 + byte * 7);
}

static int unpack(uint8_t *to) {
    rackwright_fence();
    COMMAND(SNAPPY_DECOMPRESS_SRC, (uintptr_t)packed, sizeof packed);
    COMMAND(SNAPPY_DECOMPRESS_DEST_AND_START, (uintptr_t)to, 0);
    uint64_t answer = RACKWRIGHT_QUERY(SNAPPY_DECOMPRESS_CUSTOM, SNAPPY_DECOMPRESS_CHECK_COMPLETION);
    rackwright_fence();
    return answer != 0;
}
"""

COHERENT = """
/* Input and output are in lines that the cache has, dirty, and so are the bytes around the output. */
int main(void) {
    uint64_t began = rackwright_cycles();
    for (int time = 0; time < PLACES; time++) {
        uint8_t *to = memory + 100 * time + time % 7;
        for (int byte = -20; byte < SIZE + 20; byte++) to[byte + 20] = (uint8_t)~time;
        to += 20;
        pack(time);
        if (unpack(to) == 0) return 1;
        for (int byte = 0; byte < SIZE; byte++)
            if (to[byte] != packed[2 + byte]) return 2;
        for (int byte = 1; byte <= 20; byte++)
            if (to[-byte] != (uint8_t)~time || to[SIZE - 1 + byte] != (uint8_t)~time) return 3;
    }
    print_number(rackwright_cycles() - began);
    return 0;
}
"""

DIVIDE = """
/* Divisions and commands share the path of their results. */
int main(void) {
    volatile uint64_t dividend = 1ull << 60, divisor = 3;
    pack(5);
    rackwright_fence();
    COMMAND(SNAPPY_DECOMPRESS_SRC, (uintptr_t)packed, sizeof packed);
    uint64_t before = dividend / divisor;
    COMMAND(SNAPPY_DECOMPRESS_DEST_AND_START, (uintptr_t)memory, 0);
    uint64_t answer = RACKWRIGHT_QUERY(SNAPPY_DECOMPRESS_CUSTOM, SNAPPY_DECOMPRESS_CHECK_COMPLETION);
    uint64_t after = dividend / (divisor + 4), rest = dividend % (divisor + 4);
    if (answer == 0 || before != (1ull << 60) / 3) return 1;
    return after * 7 + rest == dividend ? 0 : 2;
}
"""

HARTS = """
/* Each hart has a unit: the second one unpacks when the first one has, and has started it. */
static volatile uint64_t done;
uint8_t stack[4096] __attribute__((aligned(16)));
void second(void) {
    done = unpack(memory + 1000) ? 1 : 2;
    for (;;) {}
}
__attribute__((naked)) void every_hart(void) {
    __asm__ volatile("beqz a0, _start\\n la sp, stack\\n li t0, 4096\\n add sp, sp, t0\\n j second");
}
int main(void) {
    pack(1);
    if (unpack(memory) == 0) return 1;
    ((volatile uint32_t *)0x02000000)[1] = 1;
    while (done == 0) {}
    for (int byte = 0; byte < SIZE; byte++)
        if (memory[1000 + byte] != packed[2 + byte]) return 3;
    return (int)done - 1;
}
"""


def run(cpu: str, folder: Path, main: str, *, harts: int = 1) -> RunResult:
    flags = ["-Wl,--entry=every_hart"] if harts > 1 else []
    (folder / "units.h").write_text(server_header([unit_manifest(UnitConfig(UNIT))]))
    source = folder / "program.c"
    source.write_text(HEAD + main)
    program = compile_bare_metal([source], folder / "program.elf", [f"-I{folder}", *flags])
    return Server(cpu, [UNIT], harts=harts).run(program, max_cycles=5_000_000)


def test_a_unit_and_the_caches_of_the_rtl_have_the_same_memory(tmp_path: Path) -> None:
    rtl, model = (run(cpu, tmp_path, COHERENT) for cpu in ("rocket-rtl", "rocket"))
    assert (rtl.exit_code, model.exit_code) == (0, 0)
    assert run("rocket-rtl", tmp_path, COHERENT).digest == rtl.digest
    assert rtl.unit_cycles > 0
    assert rtl.counters.keys() == model.counters.keys()
    assert abs(int(rtl.stdout) - int(model.stdout)) < 0.12 * int(model.stdout)


def test_divisions_beside_commands_are_right(tmp_path: Path) -> None:
    assert run("rocket-rtl", tmp_path, DIVIDE).exit_code == 0


@pytest.mark.long("compiling four Rocket cores takes minutes")
def test_harts_in_rtl_start_by_their_interrupts_and_have_units_each(tmp_path: Path) -> None:
    first, second = (run("rocket-rtl", tmp_path, HARTS, harts=2) for _ in range(2))
    assert first.exit_code == 0
    assert first.digest == second.digest


def test_what_the_rtl_cannot_have_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RackwrightError, match="rocket-rtl has 1 to 4 harts, not 5"):
        Server("rocket-rtl", harts=5)
    source = tmp_path / "bare.c"
    source.write_text("int main(void) { return 0; }\n")
    program = compile_bare_metal([source], tmp_path / "bare.elf")
    for options, line in (
        (("--accelerator", UNIT, "--placement", "chiplet"), "has no other placement"),
        (("--tiles", "x.yaml"), "--tiles does not apply: rocket-rtl reports no writes"),
        (("--fabric", "x.py"), "--fabric does not apply: rocket-rtl reports no writes"),
    ):
        refused = rw("run", program, "--cpu", "rocket-rtl", *options)
        assert refused.status == 1
        assert line in refused.stderr.splitlines()[-1]
