"""Firmware that knows nothing of us on a chip alone: its device tree, serial port and privileged modes."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

from bootstrap.paths import REPOSITORY
from bootstrap.software import RISCV
from rackwright.linux.image import default_image, load_image
from rackwright.machine.programs import run_compiler
from rackwright.soc import Soc, compose
from rackwright.soc.generator import boot_image
from rackwright.soc.simulator import run_program

SOURCE = Path(__file__).parent / "fixtures" / "soc_firmware.S"
PLACES = {"entry": 0x8000_0000, "firmware": 0x8008_0000, "payload": 0x8020_0000}
TREE = 0x8220_0000
"""Where firmware finds the device tree: it changes it, and the chip has it in a ROM."""


def test_harts_are_told_the_place_behind_the_boot_image(tmp_path: Path) -> None:
    image = boot_image(tmp_path).read_bytes()
    words = list(struct.unpack(f"<{len(image) // 4}I", image))
    # `auipc a1, 0` and `addi a1, a1, OFFSET`.
    place = words.index(0x00000597)
    assert words[place + 1] & 0xFFFFF == 0x58593
    assert 4 * place + (words[place + 1] >> 20) == len(image)


def firmware_program(soc: Soc, folder: Path) -> Path:
    """Debian's OpenSBI, and a program for supervisor mode that it enters."""
    (folder / "firmware.bin").write_bytes(load_image(default_image()).firmware)
    sections = [f"-Wl,--section-start=.{name}={place:#x}" for name, place in PLACES.items()]
    of_firmware = {"FIRMWARE": PLACES["firmware"], "PAYLOAD": PLACES["payload"], "TREE": TREE}
    defined = {**of_firmware, "TO_HOST": soc.to_host}
    options = [
        "-nostdlib",
        "-static",
        "-Wl,-N,--build-id=none",
        "-march=rv64gc",
        "-mabi=lp64d",
        f"-I{folder}",
    ]
    options += [f"-Wa,-I{folder}", *(f"-D{name}={value:#x}" for name, value in defined.items())]
    program = folder / "firmware.elf"
    run_compiler(
        [f"{RISCV.compiler_prefix}gcc", *options, *sections, str(SOURCE), "-o", str(program)], program
    )
    return program


@pytest.mark.long("eight minutes of a processor: a chip is generated and compiled, and boots")
def test_debians_opensbi_boots_on_a_chip_and_enters_supervisor_mode(tmp_path: Path) -> None:
    soc = Soc.load(REPOSITORY / "examples" / "soc" / "debug.yaml")
    compose(soc, tmp_path / "debug")
    ended = run_program(tmp_path / "debug", firmware_program(soc, tmp_path), max_cycles=60_000_000)
    print(ended.stdout, ended.cycles)
    assert ended.exit_code == 0
    assert "OpenSBI v1." in ended.stdout
    assert "Platform Console Device     : uart8250" in ended.stdout
    assert ended.stdout.endswith("in supervisor mode\n")
