"""Calls of official libraries that a preloaded library gives to units, in dynamic programs on Linux."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from bootstrap.compression import PRELOAD
from bootstrap.paths import SOFTWARE
from bootstrap.software import RISCV, third_party, write_public_header
from rackwright.demo.archive import default_archive
from rackwright.linux.boot import BootResult, boot, restore
from rackwright.linux.image import default_image, load_image

SNAPPY, ZLIB = "libsnappy.so.1", "libz.so.1"
SMALL = 256 << 20
LOADER = "ld-linux-riscv64-lp64d.so.1"
OFFLOADED = f"LD_LIBRARY_PATH=. LD_PRELOAD=./{PRELOAD.name} RACKWRIGHT_REPORT=1 ./offload text"


def compiled(output: Path, sources: Sequence[Path], *arguments: str | Path) -> Path:
    """What the compiler of the simulated machine makes, for a loader and libraries beside it."""
    command = [*RISCV.compiler(sources[0]), "-O1", "-march=rv64gc", "-mabi=lp64d", "-fPIC", "-static-libgcc"]
    command += [f"-Wl,--dynamic-linker={LOADER}", "-o", *map(str, [output, *sources, *arguments])]
    subprocess.run(command, check=True)
    return output


def official_libraries(folder: Path) -> list[Path]:
    """The official Snappy and zlib, as distributions have them: shared."""
    snappy, zlib = third_party("snappy_src") / "snappy", third_party("libz-sys") / "src" / "zlib"
    write_public_header(snappy, folder)
    of_snappy = [snappy / f"snappy{part}.cc" for part in ("", "-c", "-sinksource", "-stubs-internal")]
    of_zlib = sorted(path for path in zlib.glob("*.c") if not path.name.startswith("gz"))
    return [
        compiled(
            folder / SNAPPY, of_snappy, "-shared", "-static-libstdc++", f"-Wl,-soname,{SNAPPY}", f"-I{folder}"
        ),
        compiled(folder / ZLIB, of_zlib, "-shared", f"-Wl,-soname,{ZLIB}"),
    ]


def of_system(name: str) -> Path:
    """A library that every program is linked with."""
    command = [f"{RISCV.compiler_prefix}gcc", f"-print-file-name={name}"]
    return Path(subprocess.check_output(command, text=True).strip())


@pytest.fixture(scope="module")
def booted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A machine that has booted, with the program, all that it is linked with, and a text in /root."""
    folder = tmp_path_factory.mktemp("offload")
    libraries = official_libraries(folder)
    sources = [SOFTWARE / "tests" / "offload.c"]
    program = compiled(folder / "offload", sources, f"-I{RISCV.directory / 'include'}", *libraries)
    text = folder / "text"
    text.write_bytes(default_archive(100_000))
    checkpoint = folder / "booted"
    boot(
        load_image(default_image()),
        memory_bytes=SMALL,
        files=[program, text, *libraries, *map(of_system, (LOADER, "libc.so.6", "libm.so.6")), PRELOAD],
        checkpoint=checkpoint,
    )
    return checkpoint


def calls(result: BootResult) -> list[str]:
    """What the library says at the end of the program, which found its results right."""
    assert result.stdout == b"right right\n", result.stderr
    assert result.exit_code == 0
    return [line.partition("rackwright: ")[2] for line in result.stderr.decode().splitlines()]


def test_calls_go_to_the_units_and_the_rest_to_the_libraries(booted: Path) -> None:
    """Of Snappy's three calls a malformed one is the library's too, as are all three of zlib's."""
    result = restore(booted, OFFLOADED, accelerators=["snappy"])
    assert calls(result) == [
        "compressed: 1 by the unit, 2 by the library",
        "decompressed: 1 by the unit, 2 by the library",
    ]
    assert result.counters["snappy-decompress.page_walks"] > 0


def test_without_units_the_libraries_do_all(booted: Path) -> None:
    assert calls(restore(booted, OFFLOADED)) == [
        "compressed: 0 by the unit, 3 by the library",
        "decompressed: 0 by the unit, 3 by the library",
    ]


@pytest.mark.long
def test_those_of_deflate_do_what_zlib_is_asked_for(booted: Path) -> None:
    """The call without room for its result is the library's as well."""
    assert calls(restore(booted, OFFLOADED, accelerators=["deflate"])) == [
        "compressed: 1 by the unit, 2 by the library",
        "decompressed: 1 by the unit, 2 by the library",
    ]


@pytest.mark.long
def test_one_unit_compresses_for_all_libraries(booted: Path) -> None:
    """The call without room for its result is the library's."""
    assert calls(restore(booted, OFFLOADED, accelerators=["combined-compress"])) == [
        "compressed: 2 by the unit, 1 by the library",
        "decompressed: 0 by the unit, 3 by the library",
    ]
