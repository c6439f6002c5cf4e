"""Units of one server: on one opcode, behind registers, each at its own place and clock."""

from __future__ import annotations

from pathlib import Path

import pytest
from command_line import rw

from bootstrap.paths import REPOSITORY
from rackwright import (
    CPUS,
    EngineError,
    RackwrightError,
    Server,
    UnitConfig,
    compile_bare_metal,
    compile_program,
)
from rackwright.cli.synth import wanted_configurations
from rackwright.compression import libsnappy
from rackwright.hardware.headers import server_header
from rackwright.unit.accelerators import Accelerator, unit_manifest
from rackwright.unit.config import unit_configs

EXAMPLES = REPOSITORY / "examples" / "several-units"
FIXTURES = Path(__file__).parent / "fixtures"
PLAIN = b"".join(b"%d bottles of beer on the wall\n" % (number % 99) for number in range(600))
SNAPPY = (UnitConfig("snappy-compress"), UnitConfig("snappy-decompress"))
ZSTD = (
    UnitConfig(
        "zstd-compress",
        {"block-kib": 32, "hash-log2": 10, "hash-ways": 1, "hash-banks": 16, "history-kib": 8},
    ),
    UnitConfig("zstd-decompress"),
)
REGISTERS = UnitConfig("snappy-decompress", {"history-kib": 16}, command="mmio")


def compiled(source: Path | str, units: list[UnitConfig], folder: Path, *options: str) -> Path:
    """A program with the header of a server with these units."""
    (folder / "units.h").write_text(server_header([unit_manifest(unit) for unit in units]), encoding="utf-8")
    if isinstance(source, str):
        (folder / "program.c").write_text(source, encoding="utf-8")
        source = folder / "program.c"
    return compile_program([source], folder / "program.elf", [f"-I{folder}", "-Wall", "-Werror", *options])


@pytest.mark.parametrize("cpu", CPUS)
def test_two_formats_share_their_opcodes(cpu: str, tmp_path: Path) -> None:
    units = [*SNAPPY, *ZSTD]
    program = compiled(EXAMPLES / "formats.c", units, tmp_path)
    ended = Server(cpu, units).run(program, stdin=PLAIN)
    assert ended.exit_code == 0
    assert ended.stdout.startswith(b"%d bytes: " % len(PLAIN))
    # In another order they have other numbers: the header is for this one.
    other = [*ZSTD, *SNAPPY]
    again = Server(cpu, other).run(compiled(EXAMPLES / "formats.c", other, tmp_path), stdin=PLAIN)
    assert (again.exit_code, again.stdout) == (0, ended.stdout)


@pytest.mark.parametrize("cpu", CPUS)
def test_a_unit_behind_registers_does_what_it_does_by_instructions(cpu: str, tmp_path: Path) -> None:
    packed = libsnappy.compress(PLAIN)
    program = compiled(EXAMPLES / "registers.c", [REGISTERS], tmp_path)
    server = Server(cpu, [REGISTERS])
    ended = server.run(program, stdin=packed)
    assert (ended.exit_code, ended.stdout) == (0, PLAIN)
    assert ended.unit_cycles > 0
    assert server.run(program, stdin=packed).digest == ended.digest
    far = Server(
        cpu, [UnitConfig("snappy-decompress", {"history-kib": 16}, placement="pcie", command="mmio")]
    )
    late = far.run(program, stdin=packed)
    assert (late.exit_code, late.stdout) == (0, PLAIN)
    assert late.cycles > ended.cycles + 400


def test_registers_need_no_opcode_and_stand_beside_those_that_do(tmp_path: Path) -> None:
    units = [*SNAPPY, REGISTERS, *ZSTD]
    packed = libsnappy.compress(PLAIN)
    header = server_header([unit_manifest(unit) for unit in [*ZSTD, REGISTERS]])
    assert "#define SNAPPY_DECOMPRESS_REGISTERS 0x10000000000 " in header
    ended = Server("functional", units).run(
        compiled(EXAMPLES / "registers.c", [REGISTERS], tmp_path), stdin=packed
    )
    assert (ended.exit_code, ended.stdout) == (0, PLAIN)


PARTS = """
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>
static void faults(int signal) { (void)signal; _exit(7); }
int main(int count, char **words) {
    volatile char *page = (volatile char *)0x10000000000;
    signal(SIGSEGV, faults);
    signal(SIGBUS, faults);
    switch (atoi(words[count - 1])) {
    case 0: return (int)*(volatile uint64_t *)(page + 0x20);
    case 1: return *(volatile uint32_t *)(page + 0x20);
    case 2: return (int)*(volatile uint64_t *)(page + 0x24);
    case 3: return (int)*(volatile uint64_t *)(page + 0x1000);
    default: *(volatile uint8_t *)page = 1; return 0;
    }
}
"""


@pytest.mark.parametrize(("access", "status"), [(0, 0), (1, 7), (2, 7), (3, 7), (4, 7)])
@pytest.mark.parametrize("cpu", ["functional", "rocket"])
def test_only_whole_registers_can_be_accessed(access: int, status: int, cpu: str, tmp_path: Path) -> None:
    program = compiled(PARTS, [REGISTERS], tmp_path)
    assert Server(cpu, [REGISTERS]).run(program, [str(access)]).exit_code == status


def test_a_register_that_is_not_answered_ends_the_run(tmp_path: Path) -> None:
    program = compiled(PARTS, [REGISTERS], tmp_path)
    with pytest.raises(EngineError, match="`mute`, which has not answered an access to register 0x20 since"):
        Server("functional", [FIXTURES / "mute.json"]).run(program, ["0"], max_cycles=10_000)


BARE = """
#include "bare.h"
#include "rackwright/registers.h"
#include "units.h"
#define COMMAND(name, rs1, rs2) \\
    rackwright_register_command(SNAPPY_DECOMPRESS_REGISTERS, SNAPPY_DECOMPRESS_CUSTOM, name, rs1, rs2)
static uint8_t packed[] = {PACKED}, plain[64];
int main(void) {
    COMMAND(SNAPPY_DECOMPRESS_SRC, (uintptr_t)packed, sizeof packed);
    COMMAND(SNAPPY_DECOMPRESS_DEST_AND_START, (uintptr_t)plain, 0);
    rackwright_register_query(SNAPPY_DECOMPRESS_REGISTERS, SNAPPY_DECOMPRESS_CUSTOM,
                              SNAPPY_DECOMPRESS_CHECK_COMPLETION);
    print_text((const char *)plain);
    return 0;
}
"""


@pytest.mark.parametrize("cpu", ["functional", "boom"])
def test_bare_metal_reaches_a_unit_behind_registers(cpu: str, tmp_path: Path) -> None:
    text = b"without an operating system\n"
    (tmp_path / "units.h").write_text(server_header([unit_manifest(REGISTERS)]), encoding="utf-8")
    source = tmp_path / "bare.c"
    source.write_text(BARE.replace("PACKED", ", ".join(map(str, libsnappy.compress(text)))), encoding="utf-8")
    program = compile_bare_metal([source], tmp_path / "bare.elf", [f"-I{tmp_path}"])
    ended = Server(cpu, [REGISTERS]).run(program)
    assert (ended.exit_code, ended.stdout) == (0, text)


def test_each_unit_has_its_own_place_and_clock(tmp_path: Path) -> None:
    program = compiled(EXAMPLES / "formats.c", [*SNAPPY, *ZSTD], tmp_path)

    def cycles(*snappy: UnitConfig) -> int:
        ended = Server("functional", [*snappy, *ZSTD]).run(program, stdin=PLAIN)
        assert ended.exit_code == 0
        return ended.cycles

    near = cycles(*SNAPPY)
    far = cycles(UnitConfig("snappy-compress", placement="pcie"), SNAPPY[1])
    both = cycles(*(UnitConfig(each.unit, placement="pcie") for each in SNAPPY))
    slow = cycles(SNAPPY[0], UnitConfig("snappy-decompress", clock="1e8"))
    assert near < far < both
    assert near < slow


def test_what_cannot_share_an_opcode_is_refused(tmp_path: Path) -> None:
    silent = tmp_path / "manifest.json"
    own = REPOSITORY / "examples" / "bring-your-own" / "systemverilog"
    text = (own / "manifest.json").read_text(encoding="utf-8")
    begin, end = text.index(', "commands": ['), text.index("    ]},")
    silent.write_text(text[:begin] + "}" + text[end + len("    ]}") :], encoding="utf-8")
    (tmp_path / "PopulationCount.sv").write_bytes((own / "PopulationCount.sv").read_bytes())
    program = compiled("int main(void) { return 0; }", [], tmp_path)
    assert Server("functional", [silent]).run(program).exit_code == 0
    shared: list[Accelerator] = [silent, "protobuf-serialize"]
    with pytest.raises(
        EngineError, match=r"custom-3 cannot be shared by .*: the manifest of `population-count`"
    ):
        Server("functional", shared).run(program)
    many: list[Accelerator] = [UnitConfig("stream-copy", {"outstanding": 4})] * 5
    with pytest.raises(EngineError, match="custom-2 has too few instructions for stream-copy, stream-copy"):
        Server("functional", many).run(program)


TURNS = """
#include <pthread.h>
#include <stdio.h>
#include "rackwright/rocc.h"
#include "units.h"
enum { BYTES = 8 << 20, TIMES = 5 };
static unsigned char from[BYTES], to[BYTES];
static volatile int done;
static void *spin(void *unused) {
    (void)unused;
    for (unsigned long i = 1; !done; i++) {
        unsigned long registers[8];
        for (int j = 0; j < 8; j++) registers[j] = i;
        __asm__ volatile("" : "+r"(registers[0]), "+r"(registers[1]), "+r"(registers[2]), "+r"(registers[3]),
                         "+r"(registers[4]), "+r"(registers[5]), "+r"(registers[6]), "+r"(registers[7]));
        for (int j = 0; j < 8; j++) if (registers[j] != i) return from;
    }
    return NULL;
}
int main(void) {
    pthread_t other;
    pthread_create(&other, NULL, spin, NULL);
    for (int i = 0; i < TIMES; i++) {
        RACKWRIGHT_COMMAND(STREAM_COPY_CUSTOM, STREAM_COPY_SRC, from, BYTES);
        RACKWRIGHT_COMMAND(STREAM_COPY_CUSTOM, STREAM_COPY_DEST_AND_START, to, 0);
        unsigned long ended = RACKWRIGHT_QUERY(STREAM_COPY_CUSTOM, STREAM_COPY_CHECK_COMPLETION);
        if (ended != (unsigned long)i + 1) return 2;
    }
    done = 1;
    void *wrong;
    pthread_join(other, &wrong);
    return wrong != NULL;
}
"""


@pytest.mark.parametrize("harts", [1, 2])
def test_an_answer_goes_to_the_thread_that_asked(harts: int, tmp_path: Path) -> None:
    """Its slice ends while it waits for the unit, and another thread waits for the hart."""
    units = [UnitConfig("stream-copy", clock="1e8")]
    program = compiled(TURNS, units, tmp_path, "-pthread", "-O1")
    ended = Server("functional", units, harts=harts).run(program, max_cycles=10**9)
    assert ended.exit_code == 0


def test_a_unit_is_a_value(tmp_path: Path) -> None:
    one = UnitConfig("snappy-compress", {"hash-ways": 2, "history-kib": 8}, placement="pcie")
    other = UnitConfig("snappy-compress", {"history-kib": 8, "hash-ways": 2}, placement="pcie")
    assert one == other
    assert len({one, other, UnitConfig("snappy-compress")}) == 2
    assert str(one) == "snappy-compress, hash-ways=2, history-kib=8, pcie"
    assert UnitConfig.load(EXAMPLES / "decompressor.yaml") == UnitConfig(
        "snappy-decompress", {"history-kib": 16}, placement="chiplet", clock="1.5e9", command="mmio"
    )


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("parameters: {}", "unit is None, not the name of a unit"),
        ("unit: snappy-compress\nplace: pcie", "it has 'place'; there are unit, parameters"),
        ("unit: snappy-compress\nplacement: moon", "placement is 'moon'; there are near-core"),
        ("unit: snappy-compress\ncommand: mail", "command is 'mail'; there are rocc, mmio, queue"),
        ("unit: snappy-compress\nparameters: [1]", "parameters is not a mapping"),
        ("unit: snappy-compress\nparameters: {hash-ways: 1.5}", "hash-ways is 1.5, neither"),
        ("unit: snappy-compress\nclock: fast", "fast is neither a frequency"),
        ("unit: [", "not YAML"),
    ],
)
def test_what_is_wrong_in_a_file_is_said_with_its_name(text: str, says: str, tmp_path: Path) -> None:
    path = tmp_path / "unit.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(RackwrightError, match=says) as raised:
        UnitConfig.load(path)
    assert str(path) in str(raised.value)


def test_units_of_a_command_line(tmp_path: Path) -> None:
    found = unit_configs(
        ["snappy", str(EXAMPLES / "decompressor.yaml")],
        parameters={"snappy-compress": {"hash-ways": 2}},
        placement="pcie",
        clock="1e9",
    )
    assert [each.unit for each in found] == ["snappy-compress", "snappy-decompress", "snappy-decompress"]
    assert [each.placement for each in found] == ["pcie", "pcie", "chiplet"]
    assert found[0].parameters == {"hash-ways": 2}
    with pytest.raises(RackwrightError, match="parameters of zstd-compress, which the server does not have"):
        unit_configs(["snappy"], parameters={"zstd-compress": {}})


def test_what_is_synthesised_is_what_a_file_says(tmp_path: Path) -> None:
    (chosen,) = wanted_configurations(
        str(EXAMPLES / "decompressor.yaml"), False, False, {"lookahead": "64"}, False
    )
    assert chosen.name == "snappy-decompress,history-kib=16,lookahead=64,command=mmio"
    assert chosen.elaboration.command == "mmio"


def test_as_a_user_would(tmp_path: Path) -> None:
    header, unit = tmp_path / "units.h", EXAMPLES / "decompressor.yaml"
    assert rw("units", unit, "--header", header).status == 0
    assert rw("units", unit, "--header", "-").stdout == header.read_text()
    program = compile_program([EXAMPLES / "registers.c"], tmp_path / "registers.elf", [f"-I{tmp_path}"])
    (tmp_path / "input").write_bytes(libsnappy.compress(b"text"))
    ended = rw("run", "--accelerator", unit, program, "--json", stdin="\x04\x0ctext")
    assert ended.status == 0
    assert ended.json()["stdout"] == "text"
    assert ended.json()["unit_clocks_hz"] == [1_500_000_000]
    assert rw("units", "--header", header).status == 1
