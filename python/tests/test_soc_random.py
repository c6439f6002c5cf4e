"""Random files of chips: each is refused with a reason, or Rocket Chip elaborates it with all its units.

Some of them also run, and all their units answer.
"""

from __future__ import annotations

import json
import random
import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from scala_compiler import CHIPS, FOR_ROCKET_CHIP, java, scalac, written

from bootstrap.paths import REPOSITORY, SOC_CLASSPATH, SOC_JAR
from rackwright import RackwrightError, compile_bare_metal
from rackwright.hardware.manifests import read_manifest
from rackwright.soc import Soc, checked, compose
from rackwright.soc.check import PlacedUnit
from rackwright.soc.simulator import run_program
from rackwright.soc.specification import specification
from rackwright.soc.units import unit_manifests

OWN = REPOSITORY / "examples" / "bring-your-own" / "systemverilog" / "manifest.json"
EXAMPLES = REPOSITORY / "examples" / "soc"
DMA = REPOSITORY / "examples" / "bring-your-own" / "axi" / "manifest.json"

BESIDE = ("stream-copy", "snappy", "protobuf", "aes", str(OWN), "gather")
ON_BUSES = ("stream-copy", "nic", str(DMA))
WRONG = ("mesh", "stream-cpoy", 7, {"unit": "stream-copy", "parameters": {"depth": 1}})


def random_file(source: random.Random) -> dict[str, Any]:
    """A file of a chip; in a third of them, something is wrong."""

    def some(names: tuple[Any, ...], most: int) -> list[Any]:
        return [source.choice(names) for _ in range(source.randrange(most + 1))]

    harts: list[dict[str, Any]] = [{"units": some(BESIDE, 4)} for _ in range(source.choice((1, 1, 2)))]
    system: dict[str, Any] = {
        "harts": harts,
        "units": some(ON_BUSES, 2),
        "bus_bits": source.choice((64, 128, 256)),
        "trackers": source.choice((1, 4, 16, 64)),
        "data_cache": {"sets": source.choice((16, 64)), "ways": source.choice((1, 4))},
    }
    whole: dict[str, Any] = {"name": "random", "system": system}
    if source.random() < 0.3:
        harts[0]["translation"] = True
    if source.random() < 0.3:
        system["shared"] = some(("stream-copy", "aes"), 1)
    if source.random() < 0.33:
        kind, value = source.choice(
            (
                ("units", [source.choice(WRONG)]),
                ("bus_bits", 512),
                ("trackers", 0),
                ("registers", 0x2000_0001),
                ("clock_hz", 1),
                ("harts", []),
                ("voltage", 1),
            )
        )
        system[kind] = value
    return whole


def checked_file(folder: Path, seed: int) -> tuple[Soc, list[PlacedUnit]] | None:
    """The chip of a seed and its units, or None if it is refused by one line that names a place."""
    path = folder / "random.yaml"
    path.write_text(yaml.safe_dump(random_file(random.Random(seed))), encoding="utf-8")
    refused = ""
    try:
        soc = Soc.load(path)
        return soc, checked(soc)
    except RackwrightError as error:
        refused = str(error)
    assert re.fullmatch(r".*(system|harts|shared|units|registers|bus_bits|trackers|clock_hz).*", refused)
    return None


def test_random_files_are_refused_by_a_line_or_can_be_built(tmp_path: Path) -> None:
    found = [checked_file(tmp_path, seed) for seed in range(60)]
    assert 10 < sum(each is None for each in found) < 50


ELABORATE = """
package elaborate

import java.nio.file.Paths
import rackwright.soc.{Soc, SocConfig, SocSpec}

object Elaborate {
  def main(files: Array[String]): Unit = files.foreach { file =>
    val spec = SocSpec.read(Paths.get(file))
    Chips.elaborate(new SocConfig(spec))(new Soc(spec)(_))
  }
}
"""


FILES, SLICE = 500, 25


@pytest.mark.parametrize(
    "first",
    [
        pytest.param(first, marks=pytest.mark.long("minutes of a processor: Rocket Chip elaborates 17 chips"))
        for first in range(0, FILES, SLICE)
    ],
)
def test_random_files_are_refused_by_a_line_or_elaborate(first: int, tmp_path: Path) -> None:
    (tmp_path / "boot.img").write_bytes(bytes(64))
    files, modules = [], []
    for seed in range(first, first + SLICE):
        found = checked_file(tmp_path, seed)
        if found is None:
            continue
        soc, units = found
        records = [read_manifest(manifest) for manifest in unit_manifests(units)]
        spec = {**specification(soc, units, records), "bootRom": str(tmp_path / "boot.img")}
        files.append(tmp_path / f"{seed}.json")
        files[-1].write_text(json.dumps(spec), encoding="utf-8")
        every = [*spec["units"], *spec["sharedUnits"], *(unit["unit"] for unit in spec["busUnits"])]
        modules.append({unit["module"] for unit in every})
    sources = written(tmp_path, CHIPS, ELABORATE)
    classpath = f"{SOC_JAR}:{SOC_CLASSPATH.read_text(encoding='utf-8').strip()}"
    scalac("2.12.15", classpath, sources, tmp_path / "classes", *FOR_ROCKET_CHIP)
    lines = java([tmp_path / "classes", classpath], ["elaborate.Elaborate", *files], tmp_path).splitlines()
    elaborated = [set(line.split()) for line in lines if "HartUnits" in line or "SystemBus" in line]
    print(f"{len(elaborated)} of {SLICE} elaborated, the others refused")
    assert len(elaborated) == len(modules)
    assert [of_units - there for of_units, there in zip(modules, elaborated, strict=True)] == [
        set() for _ in modules
    ]


PROGRAM = """
#include "bare.h"
#include "rackwright/registers.h"
#include "rackwright/rocc.h"
#include "second_hart.h"

static volatile uint64_t answers[2][16];
static volatile uint32_t ended;

__attribute__((used)) static void second(void)
{
%s
  __atomic_store_n(&ended, 1, __ATOMIC_RELEASE);
  for (;;) __asm__ volatile("wfi");
}

int main(void)
{
  if (HARTS == 2) {
    start_second_hart();
    while (!__atomic_load_n(&ended, __ATOMIC_ACQUIRE)) __asm__ volatile("nop");
  }
%s
  for (int hart = 0; hart < HARTS; hart++) {
    for (int place = 0; place < (hart ? %d : %d); place++) {
      print_number(answers[hart][place]);
      print_text(" ");
    }
  }
  return 0;
}
"""

RESET = {"copy-dma": ("uint32_t", 0, range(4, 5)), "nic": ("uint64_t", 32, range(1, 1 << 16))}
"""A register of units that are reached by registers alone, and what it has after reset: idle; free places."""


def question(unit: PlacedUnit) -> tuple[str, range]:
    """An expression that asks a unit for something, and the answers that it may give."""
    if unit.config.unit == "nic" or unit.config.unit == str(DMA):
        kind, offset, there = RESET[unit.name.rstrip("-0123456789")]
        at = (unit.registers.base if unit.registers else 0) + offset
        return f"*(volatile {kind} *){at:#x}", there
    port = next(port for port in unit.ports if port.get("commands"))
    numbers = {command["name"]: command["funct"] for command in port["commands"]}
    asked = numbers["problem" if unit.config.unit == "gather" else "status"]
    if unit.registers is not None:
        call = f"rackwright_register_query({unit.registers.base:#x}, {port['opcodes'][0]}, {asked})"
    else:
        (route,) = unit.routes
        call = f"RACKWRIGHT_QUERY({route.opcode}, {route.first + asked})"
    return call, range(5)


@pytest.mark.parametrize(
    "seed",
    [
        # On the buses; with own units and all widths; of two harts; shared, with translation.
        pytest.param(seed, marks=pytest.mark.long("five minutes of a processor: a chip is compiled"))
        for seed in (7, 106, 210, 305)
    ],
)
def test_units_of_a_random_chip_answer(seed: int, tmp_path: Path) -> None:
    found = checked_file(tmp_path, seed)
    assert found is not None
    soc, units = found
    reached = [[unit for unit in units if unit.hart in (None, hart)] for hart in range(len(soc.harts))]
    asked = [[question(unit) for unit in of_hart] for of_hart in reached]
    code = [
        "\n".join(f"  answers[{hart}][{place}] = {call};" for place, (call, _) in enumerate(calls))
        for hart, calls in enumerate(asked)
    ]
    first, second = len(asked[0]), len(asked[1]) if len(asked) == 2 else 0
    text = PROGRAM % (code[1] if second else "", code[0], second, first)
    (tmp_path / "ask.c").write_text(text, encoding="utf-8")
    options = [f"-DHARTS={len(soc.harts)}", f"-I{EXAMPLES}", "-Wall", "-Werror"]
    program = compile_bare_metal([tmp_path / "ask.c"], tmp_path / "ask.elf", options)
    compose(soc, tmp_path / "random")
    ended = run_program(tmp_path / "random", program, max_cycles=1_000_000)
    print(ended.stdout)
    assert ended.exit_code == 0
    answers = [int(number) for number in ended.stdout.split()]
    allowed = [there for calls in asked for _, there in calls]
    assert len(answers) == len(allowed) >= len(units)
    assert [number in there for number, there in zip(answers, allowed, strict=True)] == [True] * len(allowed)
