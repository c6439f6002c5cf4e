"""The effect of vector copies between kernel and programs on iperf3: its bandwidth with and without."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from rackwright.errors import RackwrightError
from rackwright.linux.boot import BootResult, boot, restore
from rackwright.linux.image import Image, build_image, load_image
from rackwright.reproduce.experiment import Experiment, Outcome, Settings
from rackwright.reproduce.guests import PAPERS_TIME, later
from rackwright.reproduce.reference import compare

COPIES = {"scalar": False, "vector": True}
"""The kernel's copy routines, and whether its harts have vectors, which it uses for at least 768 bytes."""

MEMORY_BYTES = 512 << 20
KERNEL_OPTIONS = "init_on_alloc=0"
"""Debian's kernel clears all memory that it allocates for itself, but the paper's does not."""

SERVER = "ip link set lo up && iperf3 -s -D && sleep 0.1"

LENGTH, QUICK_LENGTH = "-t 1", "-n 1M -i 0.1"
"""A second, the minimum of iperf3; or a megabyte, whose end it notices after a tenth of a second."""


@contextmanager
def booted(image: Image, harts: int, *, vector: bool, before: str = "true") -> Iterator[Path]:
    """The checkpoint of a machine on which iperf3's server runs, after the shell's commands `before`."""
    with TemporaryDirectory(prefix="rackwright-") as folder:
        path = Path(folder) / "booted"
        boot(
            image,
            harts=harts,
            memory_bytes=MEMORY_BYTES,
            timing=PAPERS_TIME,
            vector=vector,
            kernel_options=KERNEL_OPTIONS,
            checkpoint=path,
            prepare=f"{before} && {SERVER}",
        )
        yield path


def transfer(image: Image, command: str, *, vector: bool, harts: int = 1) -> BootResult:
    """A run of `command` beside iperf3's server, on `rocket` harts with vectors or without.

    Raises `RackwrightError` when the command fails.
    """
    with booted(image, harts, vector=vector) as checkpoint:
        result = restore(checkpoint, command, cpu="rocket")
    if result.exit_code != 0:
        raise RackwrightError(f"{command} ended with status {result.exit_code}: {result.stderr.decode()}")
    return result


def bandwidth(result: BootResult) -> float:
    """The bandwidth that iperf3's client reports, in bits per second."""
    return float(json.loads(result.stdout)["end"]["sum_received"]["bits_per_second"])


def measure(settings: Settings) -> Outcome:
    """Runs iperf3 with each of the kernel's copy routines."""
    settings.detail("fireperf-t5.2: image with iperf3")
    image = load_image(build_image(["iperf3"], tell=settings.detail))
    command = f"{later(0, settings.seed)}iperf3 -c 127.0.0.1 -J {QUICK_LENGTH if settings.quick else LENGTH}"
    results = {}
    for copy, vector in COPIES.items():
        settings.detail(f"fireperf-t5.2: {copy} copies")
        results[copy] = transfer(image, command, vector=vector)
    return outcome(results, quick=settings.quick)


def outcome(results: dict[str, BootResult], *, quick: bool) -> Outcome:
    """Bandwidths, and the gain by vectors; in a quick run most of the time is iperf3's own."""
    rates = {copy: bandwidth(result) for copy, result in results.items()}
    measured = {f"{copy} copies": rate / 1e9 for copy, rate in rates.items()}
    measured["vector over scalar"] = rates["vector"] / rates["scalar"]
    rows = compare("fireperf/copies.csv", measured, partial=quick)
    return Outcome(rows, digests=[result.digest for result in results.values()])


EXPERIMENT = Experiment(
    "fireperf-t5.2",
    "What vector copies do for iperf3",
    "Karandikar 2020 (ASPLOS), table 2; chapter 5 of his thesis, table 5.2",
    "iperf3 through the loopback interface of Debian's kernel on one `rocket` hart, from a checkpoint: copies"
    " between kernel and programs by its scalar routine, and by its vector routine on a vector unit of 128"
    " bits. A quick run transfers a megabyte only, and says nothing about bandwidth.",
    measure,
    guests=True,
)
