"""`rw bench queues --peers`: queues of several producers and consumers, beside those of other libraries.

The libraries are headers of the distribution's packages for riscv64, which are fetched for a measurement.
"""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from bootstrap.paths import BUILD, REPOSITORY
from rackwright.errors import RackwrightError
from rackwright.linux.packages import PackageClient
from rackwright.machine.programs import compile_program
from rackwright.machine.server import Server
from rackwright.reports.records import write_records

TABLE = REPOSITORY / "validation" / "queues" / "peers.csv"
PROGRAM = REPOSITORY / "software" / "tiles" / "peers.cpp"

OURS = "rackwright"
PACKAGES = {"boost": "libboost1.83-dev", "ck": "libck-dev", "tbb": "libtbb-dev"}
"""The package of each library."""

PRODUCERS, CONSUMERS = 3, 3
PLACES, ELEMENTS = 256, 9216
BATCHES = (1, 8, 64)
"""Elements that a call of ours moves; a call of the libraries moves one."""


@dataclass(frozen=True)
class PeerRow:
    """One measurement; see docs/json.md."""

    peer: str
    package: str
    element_bytes: int
    producers: int
    consumers: int
    batch: int
    places: int
    elements_per_second: float
    cycles_per_element: float
    clock_hz: int
    clock_source: str
    verified: bool
    digest: str


def measure(tell: Callable[[str], None] = lambda _: None) -> Iterator[PeerRow]:
    """Measures our queue alone and in batches, then each library's.

    Raises `RackwrightError` without a mirror that has the packages.
    """
    for batch in BATCHES:
        tell(f"{OURS}, {batch} at once")
        yield measure_row(OURS, "", _compiled(OURS), batch)
    folder, versions = _headers(tell)
    for peer, version in versions.items():
        tell(peer)
        yield measure_row(peer, version, _compiled(peer, folder), 1)


def measure_row(peer: str, package: str, program: Path, batch: int) -> PeerRow:
    """One measurement, on a server with a hart for each thread."""
    server = Server("rocket", harts=PRODUCERS + CONSUMERS)
    words = [str(number) for number in (PRODUCERS, CONSUMERS, batch, PLACES, ELEMENTS)]
    result = server.run(program, words)
    if result.exit_code != 0:
        raise RackwrightError(f"{PROGRAM.name} of {peer}: ended with {result.exit_code}")
    cycles = int(result.stdout)
    return PeerRow(
        peer,
        package,
        8,
        PRODUCERS,
        CONSUMERS,
        batch,
        PLACES,
        ELEMENTS * result.clock_hz / cycles,
        cycles / ELEMENTS,
        result.clock_hz,
        "model",
        True,
        result.digest,
    )


def our_program() -> Path:
    """The program with our queue."""
    return _compiled(OURS)


def _compiled(peer: str, headers: Path | None = None) -> Path:
    includes = [] if headers is None else ["-isystem", str(headers)]
    options = [f"-DPEER={peer.upper()}", "-std=c++17", "-pthread", *includes]
    return compile_program([PROGRAM], options=options)


def _headers(tell: Callable[[str], None]) -> tuple[Path, dict[str, str]]:
    """The folder of the libraries' headers, and the package of each with its version."""
    folder = BUILD / "peers"
    client = PackageClient(folder)
    tell("fetching the libraries' headers")
    versions = {}
    with client.current_lists():
        packages = {peer: client.alone(name) for peer, name in PACKAGES.items()}
    for peer, package in packages.items():
        client.fetch([package])
        subprocess.run(["dpkg-deb", "-x", client.path(package), folder / "root"], check=True)
        versions[peer] = package.file.rsplit("_", 1)[0].replace("%3a", ":").replace("_", " ")
    return folder / "root" / "usr" / "include", versions


def gains(rows: list[PeerRow]) -> dict[str, float]:
    """Our elements per second over those of the fastest library, by elements of a call."""
    best = max(row.elements_per_second for row in rows if row.peer != OURS)
    return {str(row.batch): row.elements_per_second / best for row in rows if row.peer == OURS}


def write_table(rows: list[PeerRow]) -> None:
    """Writes rows into the committed table."""
    write_records(TABLE, PeerRow, rows)
