"""`rw fabric`: the PCIe fabric of a server, shown, checked and measured."""

from __future__ import annotations

import json as json_format
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bootstrap.paths import REPOSITORY
from rackwright.cli.output import JsonOption, print_json, print_record, print_table, results, working
from rackwright.cli.settings import MemoryOption, parse_timing
from rackwright.errors import RackwrightError

if TYPE_CHECKING:
    from rackwright.fabric.fabric import Measured

fabric = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode="markdown",
    help="Measure the PCIe fabric of a server: links, switches, and cards whose functions are RTL.",
)

SystemArgument = Annotated[
    Path, typer.Argument(help="A Python file that creates a RootComplex.", metavar="SYSTEM.py")
]


class Test(StrEnum):
    """The tests."""

    read = "read"
    write = "write"
    latency = "latency"
    peer = "peer"
    registers = "registers"


@fabric.command("show")
def show(
    system: SystemArgument,
    output: Annotated[Path | None, typer.Option("-o", "--output", help="File for the SVG.")] = None,
    json: JsonOption = False,
) -> None:
    """Show a fabric as software finds it: bridges, cards, their numbers and windows; and draw it as SVG.

    Examples:
        ./rw fabric show examples/fabric/switch.py

        ./rw fabric show examples/fabric/switch.py --json

    """
    from rackwright.fabric import load_system
    from rackwright.fabric.drawing import svg
    from rackwright.fabric.fabric import Fabric

    loaded = load_system(system)
    with working(f"{system.name}: finds its cards"):
        built = Fabric(loaded)
        found, bridges = built.found, built.bridges
    drawing = output or REPOSITORY / "out" / "fabric" / f"{system.stem}.svg"
    drawing.parent.mkdir(parents=True, exist_ok=True)
    drawing.write_text(svg(loaded, found), encoding="utf-8")
    links = [link.record() for link in loaded.links]
    if json:
        print_json({"cards": found, "bridges": bridges, "links": links, "drawing": str(drawing)})
        return
    columns = [("bridge", "left"), ("id", "left"), ("buses", "left"), ("window", "left")]
    rows = [
        [
            bridge["kind"],
            bridge["id"],
            f"{bridge['secondary_bus']:02x}-{bridge['subordinate_bus']:02x}",
            f"{bridge['window']['address']:#x} ({bridge['window']['bytes']:,} B)",
        ]
        for bridge in bridges
    ]
    print_table(columns, rows)
    columns = [("card", "left"), ("id", "left"), ("vendor:device", "left"), ("windows", "left")]
    rows = [
        [
            card["name"],
            card["id"],
            f"{card['vendor']:04x}:{card['device']:04x}",
            ", ".join(f"{each['address']:#x} ({each['bytes']:,} B)" for each in card["windows"]),
        ]
        for card in found
    ]
    print_table(columns, rows)
    results.print(f"drawn in {drawing}", highlight=False, soft_wrap=True)


@fabric.command("check")
def check(system: SystemArgument, json: JsonOption = False) -> None:
    """Check that a fabric is legal; if not, one line names the violation, and the exit status is 1.

    Refused are two roots, loops, unequal payloads, zero credits, equal names, and links that there are not.

    Examples:
        ./rw fabric check examples/fabric/switch.py

    """
    from rackwright.fabric import load_system

    loaded = load_system(system)
    counts = {"cards": len(loaded.cards), "switches": len(loaded.switches), "links": len(loaded.links)}
    if json:
        print_json({"legal": True, **counts})
    else:
        results.print(", ".join(f"{name}: {count}" for name, count in counts.items()), highlight=False)


@fabric.command("bench")
def bench(
    system: SystemArgument,
    test: Annotated[Test, typer.Option(help="DMA of cards, or accesses of the host to their registers.")],
    size: Annotated[
        list[int] | None,
        typer.Option(help="Bytes of a request, a power of two from 16 on; repeatable. 64, 256, 512, 2048."),
    ] = None,
    count: Annotated[int | None, typer.Option(min=2, help="Number of requests for each size.")] = None,
    outstanding: Annotated[int, typer.Option(min=1, max=1024, help="Outstanding requests per card.")] = 64,
    interval: Annotated[
        int, typer.Option(min=1, max=65535, help="Minimum cycles of the card between two requests.")
    ] = 1,
    copy: Annotated[
        int,
        typer.Option(
            min=0, max=65535, help="Cycles in which the card copies 16 bytes after a read or before a write."
        ),
    ] = 0,
    cold: Annotated[
        bool, typer.Option("--cold", help="Start with the buffer in none of the host's caches.")
    ] = False,
    beside: Annotated[
        str | None,
        typer.Option(metavar="CARD", help="A card that reads continuously while others are measured."),
    ] = None,
    beside_size: Annotated[
        int, typer.Option(min=16, help="Bytes of this card's requests, a power of two.")
    ] = 512,
    beside_outstanding: Annotated[
        int,
        typer.Option(
            min=1, max=1024, help="Outstanding requests of this card, also bounded by its parameter `tags`."
        ),
    ] = 64,
    capture: Annotated[
        Path | None, typer.Option(metavar="FILE", help="File for all packets, as one JSON object per line.")
    ] = None,
    memory: MemoryOption = None,
    json: JsonOption = False,
) -> None:
    """Measure a fabric: DMA of each card in turn, with verified data, or accesses to its registers.

    The cards are RTL, the host's memory is that of a server. Peers write to the next card. A run with wrong
    data, or with a missing response, ends with exit status 1.

    Examples:
        ./rw fabric bench examples/fabric/one_link.py --test read

        ./rw fabric bench examples/fabric/one_link.py --test latency --size 64 --size 2048 --json

        ./rw fabric bench examples/fabric/switch.py --test peer --size 1024

        ./rw fabric bench examples/fabric/congestion.py --test latency --size 64 --beside gpu

    """
    from rackwright.fabric import load_system
    from rackwright.fabric.fabric import DEFAULT_SIZES, Beside, Fabric, Load

    loaded = load_system(system)
    numbers = parse_timing(memory, None).memory
    load = Load(outstanding, interval, copy, count, not cold)
    with working(f"{system.name}: {test.value}") as activity:
        built = Fabric(loaded, memory=numbers, capture=capture is not None)
        activity.detail(f"{system.name}: {test.value}, runs")
        busy = Beside(beside, beside_size, beside_outstanding) if beside is not None else None
        measured = built.measure(test.value, size or DEFAULT_SIZES, load, busy)
    if capture is not None:
        _write_packets(measured, capture)
    if json:
        print_json(measured.record())
    else:
        _print(measured)


def _print(measured: Measured) -> None:
    columns = [
        ("path", "left"),
        ("bytes", "right"),
        ("median ns", "right"),
        ("p95", "right"),
        ("p99", "right"),
    ]
    columns += [("Gbit/s", "right"), ("where (ns, mean)", "left")]
    rows = [
        [
            row["path"],
            f"{row['size_bytes']:,}",
            *(f"{row[name]:,.1f}" for name in ("median_ns", "p95_ns", "p99_ns")),
            f"{row['gigabits_per_second']:.2f}",
            ", ".join(f"{name} {spent:.1f}" for name, spent in (row["parts"] or {}).items() if spent),
        ]
        for row in measured.rows
    ]
    print_table(columns, rows)
    rate = measured.packet_hops / measured.wall_seconds / 1e6
    print_record(
        [
            ("packets", f"{measured.packet_hops:,} over links, {rate:.2f} million a second"),
            ("digest", measured.digest),
        ]
    )


def _write_packets(measured: Measured, file: Path) -> None:
    from rackwright.fabric.capture import packet_record

    try:
        with file.open("w", encoding="utf-8") as lines:
            for packet in measured.packets:
                lines.write(json_format.dumps(packet_record(packet)) + "\n")
    except OSError as error:
        raise RackwrightError(f"{file}: {error.strerror}") from error
