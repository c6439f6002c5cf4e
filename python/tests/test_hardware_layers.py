"""The packages of the hardware are layers: each uses those above it in the table of `hardware/README.md`."""

import re
from pathlib import Path

import pytest

HARDWARE = Path(__file__).parents[2] / "hardware"
SOURCES = HARDWARE / "src/main/scala/rackwright"


def layers() -> list[str]:
    """Packages in the order of the table."""
    table = (HARDWARE / "README.md").read_text().split("\n## ")[0]
    rows = re.findall(r"^\| (`[^|]+`) \|", table, re.MULTILINE)
    return [name for row in rows for name in re.findall(r"`([a-z0-9.]+)`", row)]


def package(name: str) -> Path:
    return SOURCES / name.replace(".", "/")


def used(source: str) -> set[str]:
    """Packages that a file of Scala names."""
    return set(re.findall(r"\brackwright\.([a-z][a-z0-9.]*)\.[A-Z{_]", source))


@pytest.mark.parametrize("name", layers())
def test_a_package_uses_those_above_it(name: str) -> None:
    order = layers()
    above = order[: order.index(name)]
    for file in package(name).glob("*.scala"):
        source = file.read_text()
        assert f"package rackwright.{name}\n" in source, f"{file} is in another package than its folder says"
        assert used(source) - {name} <= set(above), f"{file} uses what is below {name}"


def test_every_package_is_in_the_table() -> None:
    folders = {file.parent.relative_to(SOURCES) for file in SOURCES.rglob("*.scala")}
    assert {".".join(folder.parts) for folder in folders} == set(layers())


def test_what_is_used_is_seen() -> None:
    assert used("import rackwright.port.Status\nimport rackwright.lz77.decode.{Decoder, History}") == {
        "port",
        "lz77.decode",
    }


def test_every_memory_is_one_of_two_kinds() -> None:
    for file in SOURCES.rglob("*.scala"):
        if file.parent.name != "memory":
            assert not re.search(r"\b(SyncReadMem|Mem|SRAM)\(", file.read_text()), (
                f"{file}: Sram or RegisterFile"
            )
