"""`rw bench rtl`, `cpu` and `linux`: the simulation speed of one server."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from rackwright.cli.accelerate import Operation
from rackwright.cli.bench.inputs import Files, named_inputs
from rackwright.cli.output import JsonOption, print_json, print_table, working

if TYPE_CHECKING:
    from rackwright.benchmarks.cpu import CpuRow
    from rackwright.benchmarks.linux import LinuxRow


def rtl(files: Files = None, json: JsonOption = False) -> None:
    """Overhead of the engine over the RTL alone: time relative to a bare Verilator loop with the same inputs.

    Examples:
        ./rw bench rtl

    """
    from rackwright.benchmarks import rtl as benchmark

    data = b"".join(data for _, data in named_inputs(files))
    with working("stepping the units, through the engine and bare"):
        rows = [benchmark.measure(operation.value, data) for operation in Operation]
    if json:
        print_json({"rows": [vars(row) | {"cycles_per_second": row.cycles_per_second} for row in rows]})
        return
    columns = [("unit", "left"), ("cycles", "right"), ("cycles/s", "right"), ("time over bare loop", "right")]
    cells = [
        [row.unit, f"{row.cycles:,}", f"{row.cycles_per_second:,.0f}", f"{row.ratio:.3f}x"] for row in rows
    ]
    print_table(columns, cells)


def cpu(json: JsonOption = False) -> None:
    """Instructions per second of each core model, against qemu-riscv64 on the same programs.

    Examples:
        ./rw bench cpu --json

    """
    from rackwright.benchmarks import cpu as benchmark

    with working("running the programs in turn"):
        rows = benchmark.measure()
    if json:
        print_json({"rows": [vars(row) | {"ratio": row.ratio} for row in rows]})
        return
    columns = [("program", "left"), ("core", "left"), ("instructions", "right")]
    columns += [("instructions/s", "right"), ("qemu's", "right"), ("ratio", "right")]
    print_table(columns, [_cpu_cells(row) for row in rows])


def _cpu_cells(row: CpuRow) -> list[str]:
    speed = row.instructions / row.seconds
    qemu = row.instructions / row.qemu_seconds
    return [
        row.program,
        row.cpu,
        f"{row.instructions:,}",
        f"{speed / 1e6:.0f} M",
        f"{qemu / 1e6:.0f} M",
        f"1/{1 / row.ratio:.1f}",
    ]


def linux(
    cores: Annotated[
        list[str] | None, typer.Option("--cpu", help="Models of harts; functional and rocket by default.")
    ] = None,
    json: JsonOption = False,
) -> None:
    """Cost of Linux: booting compared with QEMU, programs under it, several harts, restoring, idle servers.

    Each is measured once, by processor time, so that others on this machine change little.

    Examples:
        ./rw bench linux

        ./rw bench linux --cpu functional --json

    """
    from rackwright.benchmarks import linux as benchmark

    with working("linux") as activity:
        rows = list(benchmark.measure(cores or benchmark.CORES, activity.begin))
    if json:
        print_json({"rows": [vars(row) for row in rows]})
        return
    columns = [("figure", "left"), ("harts", "left"), ("measured", "right"), ("reference", "right")]
    columns += [("ratio", "right"), ("unit", "left")]
    print_table(columns, [_linux_cells(row) for row in rows])


def _linux_cells(row: LinuxRow) -> tuple[str, ...]:
    reference = "" if row.reference is None else f"{row.reference:,.2f}"
    ratio = "" if row.ratio is None else f"{row.ratio:.2f}"
    return row.figure, row.cpu, f"{row.measured:,.2f}", reference, ratio, row.unit
