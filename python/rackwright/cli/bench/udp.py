"""`rw bench udp`: datagrams through the network unit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

import typer

from rackwright.cli.bench.verified import report
from rackwright.cli.output import JsonOption, working

if TYPE_CHECKING:
    from rackwright.benchmarks.udp import UdpRow


def udp(
    by: Annotated[Literal["unit"], typer.Option("--by", help="The server.")] = "unit",
    frames: Annotated[int, typer.Option(min=10, max=10_000, help="Frames per measurement.")] = 200,
    json: JsonOption = False,
) -> None:
    """Rate and latency of the network unit at its ports, with frames of 64 and 1024 bytes.

    Frames are sent back to back; an echo is served inside the unit. The latency of one is from the last flit
    in to the first flit out. The exit status is 1 if a datagram is lost or changed.

    Examples:
        ./rw bench udp

        ./rw bench udp --by unit --json

    """
    from rackwright.benchmarks import udp as benchmark

    rows = []
    with working("datagrams") as activity:
        for row in benchmark.measure(frames):
            activity.detail(f"{row.test} of {row.frame_bytes} bytes: {row.cycles:.1f} cycles")
            rows.append(row)
    columns = [("test", "left"), ("by", "left"), ("bytes", "right"), ("cycles", "right")]
    columns += [("M/s", "right"), ("Gbit/s", "right"), ("ns", "right")]
    report(rows, columns, _cells, json=json)


def _cells(row: UdpRow) -> list[str]:
    return [
        row.test,
        row.by,
        str(row.frame_bytes),
        f"{row.cycles:.2f}",
        f"{row.per_second / 1e6:.1f}",
        f"{row.gigabits_per_second:.1f}",
        "" if row.p50_ns is None else f"{row.p50_ns:.1f}",
    ]
