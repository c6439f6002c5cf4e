"""`rw reproduce`: reproduction of experiments of papers."""

from __future__ import annotations

import json as json_format
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bootstrap.paths import REPOSITORY
from rackwright.cli.output import EXIT_FAILED, JsonOption, messages, print_json, print_table, results, working
from rackwright.errors import RackwrightError

if TYPE_CHECKING:
    from rackwright.reproduce import Reproduction


def reproduce(
    ids: Annotated[list[str] | None, typer.Argument(help="Experiments; all by default.")] = None,
    list_only: Annotated[bool, typer.Option("--list", help="List the experiments, and run nothing.")] = False,
    quick: Annotated[bool, typer.Option("--quick", help="Shorter runs, where available.")] = False,
    record_runs: Annotated[
        bool, typer.Option("--record", help="Record complete runs in validation/record.csv.")
    ] = False,
    output: Annotated[
        Path, typer.Option("-o", "--output", help="Folder for report.html and reproduce.json.")
    ] = REPOSITORY / "out" / "reproduce",
    json: JsonOption = False,
) -> None:
    """Reproduce figures and tables of papers, and compare.

    A row is within its limits, or outside for a reason that is known, or the exit status is 1. A run that was
    interrupted resumes: the same command continues after the experiments that were complete.

    Examples:
        ./rw reproduce --list

        ./rw reproduce firesim-t2.3 firesim-2.6

        ./rw reproduce --record

    """
    from rackwright.reproduce import last_whole
    from rackwright.reproduce.registry import chosen
    from rackwright.reproduce.report import render
    from rackwright.reproduce.runner import reproductions

    if quick and record_runs:
        raise RackwrightError("--record is for whole runs; --quick ones are not recorded")
    experiments = chosen(ids or [])
    if list_only:
        if json:
            print_json({"experiments": [experiment.record() for experiment in experiments]})
        else:
            print_table(
                [("experiment", "left"), ("what", "left"), ("source", "left"), ("last whole", "left")],
                [(each.id, each.title, each.source, _last(each.id)) for each in experiments],
            )
        return
    done: list[Reproduction] = []
    with working("experiments") as activity:
        from rackwright.reproduce import Settings

        for each in reproductions(
            [experiment.id for experiment in experiments], Settings(quick, detail=activity.detail)
        ):
            done.append(each)
            if record_runs:
                # Experiments run one by one: they take hours, and a user who stops them keeps the completed
                # ones.
                last_whole.keep([each])
    output.mkdir(parents=True, exist_ok=True)
    report = output / "report.html"
    report.write_text(render(done), encoding="utf-8")
    record = {"experiments": [each.record() for each in done]}
    (output / "reproduce.json").write_text(json_format.dumps(record, indent=2) + "\n", encoding="utf-8")
    if json:
        print_json(record)
    else:
        _print(done)
    messages.print(f"report: {report}", highlight=False, soft_wrap=True)
    if any(each.failed for each in done):
        raise typer.Exit(EXIT_FAILED)


def _last(name: str) -> str:
    """When an experiment was last run completely."""
    from rackwright.reproduce import last_whole

    found = last_whole.read().get(name)
    if found is None:
        return ""
    age = "" if found.age is None else f", {found.age} commits ago"
    return f"{found.commit[:9]}{age}"


def _print(done: Sequence[Reproduction]) -> None:
    from rackwright.reproduce.table import COLUMNS, cells

    for each in done:
        results.print(f"[bold]{each.experiment.id}[/bold]  {each.experiment.title} ", highlight=False)
        results.print(
            f"{each.experiment.source}; measured in {each.wall_seconds:.1f} s",
            highlight=False,
            soft_wrap=True,
        )
        print_table(COLUMNS, [cells(row) for row in each.outcome.rows])
