"""Random files of chips: each is refused with a reason, or Rocket Chip elaborates it with all its units."""

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
from rackwright import RackwrightError
from rackwright.hardware.manifests import read_manifest
from rackwright.soc import Soc, checked
from rackwright.soc.check import PlacedUnit
from rackwright.soc.specification import specification
from rackwright.soc.units import unit_manifests

OWN = REPOSITORY / "examples" / "bring-your-own" / "systemverilog" / "manifest.json"
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
