"""`rw explore`: a design space, point by point."""

from __future__ import annotations

import json as json_format
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bootstrap.paths import REPOSITORY
from rackwright.cli.output import EXIT_FAILED, JsonOption, messages, print_json, print_table, working
from rackwright.errors import RackwrightError

if TYPE_CHECKING:
    from rackwright.exploration import Exploration


class ExecutorName(StrEnum):
    """Who measures."""

    local = "local"
    mpi = "mpi"
    dask = "dask"


def explore(
    space: Annotated[
        Path, typer.Argument(help="A YAML file: the unit, the varied parameters, the accuracy.")
    ],
    suite: Annotated[
        Path | None, typer.Option(help="The folder of a suite; by default the one named in the space.")
    ] = None,
    executor: Annotated[
        ExecutorName, typer.Option(help="The executor of the measurements.")
    ] = ExecutorName.local,
    workers: Annotated[
        int | None, typer.Option(min=1, help="Number of processes; one per core by default.")
    ] = None,
    scheduler: Annotated[str | None, typer.Option(help="dask: the address of a running scheduler.")] = None,
    resume: Annotated[
        bool,
        typer.Option("--resume/--afresh", help="Reuse the results in the output folder, or measure again."),
    ] = True,
    output: Annotated[
        Path,
        typer.Option("-o", "--output", help="Folder for the store, explore.json, points.csv, report.html."),
    ] = REPOSITORY / "out" / "explore",
    json: JsonOption = False,
) -> None:
    """Measure every point of a design space over a suite of calls.

    Points that differ only in settings or placement share one compiled design. Each point is measured on a
    sample of calls that is large enough for the requested standard error. Measurements are stored at once and
    never repeated: an interrupted exploration resumes.

    Examples:
        ./rw generate compression --operation decompress -o out/suite

        ./rw explore examples/explore/snappy_decompress.yaml --suite out/suite

        ./rw explore examples/explore/population_count.yaml

    """
    from rackwright.exploration import explore as run
    from rackwright.exploration import load_space
    from rackwright.exploration.executors import executor as open_executor
    from rackwright.exploration.report import render

    wanted = load_space(space)
    if not resume:
        _forget(output)
    with (
        working(f"exploring {wanted.label}") as activity,
        open_executor(executor.value, workers, scheduler) as pool,
    ):
        done = run(wanted, suite=suite, folder=output, executor=pool, progress=activity.detail)
    (output / "explore.json").write_text(json_format.dumps(done.record(), indent=1) + "\n", encoding="utf-8")
    done.frame().to_csv(output / "points.csv", index=False)
    report = output / "report.html"
    report.write_text(render(done), encoding="utf-8")
    if json:
        print_json(done.record())
    else:
        _print(done)
    messages.print(f"report: {report}", highlight=False, soft_wrap=True)
    if not all(result.verified for result in done.results):
        raise typer.Exit(EXIT_FAILED)


def _forget(folder: Path) -> None:
    for name in ("points.sqlite", "points.sqlite-wal", "points.sqlite-shm"):
        try:
            (folder / name).unlink(missing_ok=True)
        except OSError as error:
            raise RackwrightError(f"{folder / name}: {error.strerror}") from error


def _print(done: Exploration) -> None:
    varied = done.varied()
    columns = [
        *((name.split(".")[-1], "right") for name in varied),
        ("GB/s", "right"),
        ("+-", "right"),
        ("ratio", "right"),
        ("GHz", "right"),
        ("mm2", "right"),
        ("front", "left"),
        ("calls", "right"),
        ("verified", "left"),
    ]
    rows = [
        [
            *(str(result.point.record()[name]) for name in varied),
            f"{result.gigabytes_per_second:.2f}",
            f"{result.standard_error:.1%}",
            "-" if result.ratio is None else f"{result.ratio:.3f}",
            f"{result.clock_hz / 1e9:.2f}",
            "-" if result.area_mm2 is None else f"{result.area_mm2:.3f}",
            "*" if result.on_front else "",
            f"{result.calls:,}",
            "yes" if result.verified else "NO",
        ]
        for result in done.results
    ]
    print_table(columns, rows)
    messages.print(
        f"{done.measured} portions measured, {done.reused} reused, digest {done.digest}", highlight=False
    )
