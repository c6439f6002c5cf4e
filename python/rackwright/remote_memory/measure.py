"""One run of a program over remote memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

from rackwright.cluster import Cluster, Ethernet, MemoryBlade, Switch
from rackwright.errors import RackwrightError
from rackwright.machine.server import Server
from rackwright.machine.workloads import BareMetal
from rackwright.remote_memory.programs import paging_program

Paging = Literal["software", "unit"]
"""The agent that fetches pages: the runtime in supervisor mode, or the page-fault unit beside the hart."""

PAGE_BYTES = 4096
HART_HZ = 2_000_000_000
MOST_HARTS = 8
MOST_BLADES = 4
_SEPARATOR = "\x1e"


@dataclass(frozen=True)
class PagingResult:
    """The result of a program: `output` and `exit_code` are the program's.

    `counts` are those of the runtime, by name: faults, evictions, and cycles of the hart's 2 GHz.
    `network_bytes` are those at the server's port, in both directions.
    """

    paging: Paging
    local_bytes: int
    output: str
    exit_code: int
    counts: dict[str, int]
    network_bytes: int
    digest: str
    wall_seconds: float

    @property
    def seconds(self) -> float:
        """Simulated time from reset to the program's end."""
        return self.counts["cycles"] / HART_HZ


def _blade(name: str, cpu: str | None) -> MemoryBlade | Server:
    return Server(cpu, name=name, workload=BareMetal("blade.elf")) if cpu else MemoryBlade(name=name)


def paged_server(
    program: Path,
    arguments: Sequence[str],
    nodes: Sequence[MemoryBlade | Server],
    *,
    local_bytes: int,
    paging: Paging,
    batch: int = 0,
    order: int = 0,
    harts: int = 1,
    files: Sequence[Path] = (),
    cpu: str = "rocket",
) -> Server:
    """The server of `run_paged`, named `server` and not connected, whose blades are `nodes`."""
    if paging not in get_args(Paging):
        raise RackwrightError(f"paging is `software` or `unit`, not {paging!r}")
    if order not in range(1 << 31):
        raise RackwrightError(f"an order of evictions is a number from 0 to 2147483647, not {order}")
    if harts not in range(1, MOST_HARTS + 1):
        raise RackwrightError(f"a program's threads run on 1 to {MOST_HARTS} harts, not {harts}")
    pages = str(local_bytes // PAGE_BYTES)
    return Server(
        cpu,
        ["page-fault"] if paging == "unit" else [],
        name="server",
        harts=harts,
        workload=BareMetal(
            paging_program(program, files),
            [
                *(paging, pages, str(batch), str(order), str(harts), str(len(nodes))),
                *(*nodes, program.name, *arguments),
            ],
            static_arp=True,
        ),
    )


def run_paged(
    program: Path,
    arguments: Sequence[str] = (),
    *,
    local_bytes: int,
    paging: Paging = "software",
    blades: int = 1,
    link_latency_us: float = 2.0,
    batch: int = 0,
    order: int = 0,
    harts: int = 1,
    files: Sequence[Path] = (),
    cpu: str = "rocket",
    blade_cpu: str | None = None,
    loss: float = 0.0,
    until_ms: float = 60_000.0,
    threads: int = 1,
) -> PagingResult:
    """Runs a static RV64 Linux program with so much local memory, and all else on `blades`.

    Its threads and processes run on `harts`. It finds `files` in its working directory, and may make others,
    in memory.

    A blade is a model, or with `blade_cpu` a server with that core, which runs the program `blade`. Pages
    leave `batch` at once; 0 chooses by the local memory. Pages are evicted by the clock algorithm; with an
    `order`, its hand jumps to positions derived from this number. One blade hangs on the server's own link;
    several, or a network that loses frames with the probability `loss`, are below a switch. Raises
    `RackwrightError` for a number that cannot be, and when the server stops for another reason than the end
    of its program.
    """
    if blades not in range(1, MOST_BLADES + 1):
        raise RackwrightError(f"there are 1 to {MOST_BLADES} blades, not {blades}")
    nodes = [_blade(f"blade{number}", blade_cpu) for number in range(blades)]
    server = paged_server(
        *(program, arguments, nodes),
        local_bytes=local_bytes,
        paging=paging,
        batch=batch,
        order=order,
        harts=harts,
        files=files,
        cpu=cpu,
    )
    link = Ethernet(latency_us=link_latency_us)
    if blades == 1 and not loss:
        server.connect(nodes[0])
    else:
        switch = Switch(loss=loss)
        switch.add_downlinks([server, *nodes])
    result = Cluster(server, link=link).run(until_ms=until_ms, ends_with=server, threads=threads)
    (row,) = (row for row in result.servers.to_dict("records") if row["name"] == "server")
    if row["exit_code"] is None:
        raise RackwrightError(f"the server did not come to its end: {row['error'] or 'out of time'}")
    output, _, report = str(row["stdout"]).rpartition(_SEPARATOR)
    counts = {name: int(value) for name, value in (line.split("=") for line in report.split())}
    (port,) = (port for port in result.ports.to_dict("records") if port["name"] == "server.port0")
    return PagingResult(
        paging=paging,
        local_bytes=local_bytes,
        output=output,
        exit_code=int(row["exit_code"]),
        counts=counts,
        network_bytes=int(port["sent_bytes"] + port["received_bytes"]),
        digest=result.digest,
        wall_seconds=result.wall_seconds,
    )
