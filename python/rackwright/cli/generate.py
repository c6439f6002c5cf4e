"""`rw generate`: benchmark suites from statistics of a fleet."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rackwright.cli.output import JsonOption, human_bytes, messages, print_json, print_table, working
from rackwright.generation.corpus import SYNTHETIC
from rackwright.generation.suite import USUAL_FILES

if TYPE_CHECKING:
    from rackwright.generation.distance import Distance

generate = typer.Typer(help="Generate benchmark suites from the statistics of a fleet.", no_args_is_help=True)


class Operation(StrEnum):
    """The kinds of calls in a suite."""

    compress = "compress"
    decompress = "decompress"


@generate.callback()
def _group() -> None:
    """Makes `compression` a verb of its own, beside future ones."""


@generate.command("compression")
def compression(
    output: Annotated[
        Path, typer.Option("-o", "--output", help="Output: an empty folder, or a suite to replace.")
    ],
    profile: Annotated[
        str, typer.Option(help="snappy-fleet, zstd-fleet, or the YAML file of a profile of your own.")
    ] = "snappy-fleet",
    corpus: Annotated[
        list[str] | None,
        typer.Option(
            "--corpus",
            help="A folder or file that bytes are taken from; 'synthetic' (the default, the same everywhere) "
            "or 'machine' (files found on this one). May be given several times.",
        ),
    ] = None,
    files: Annotated[int, typer.Option(min=1, help="Number of files for each operation.")] = USUAL_FILES,
    seed: Annotated[int, typer.Option(help="Seed; the same seed produces the same bytes.")] = 1,
    operation: Annotated[Operation | None, typer.Option(help="Only this operation; both by default.")] = None,
    json: JsonOption = False,
) -> None:
    """Generate a suite of (de)compression calls with the sizes, ratios, levels and windows of a profile.

    Every file is one call. suite.json in the folder lists them with their compression parameters; report.html
    compares the suite with its profile. Gaps are the largest differences of cumulative distributions,
    weighted by bytes.

    Examples:
        ./rw generate compression -o out/suite

        ./rw generate compression --profile my-fleet.yaml --corpus ~/samples --files 1000 -o out/mine --json

    """
    from rackwright.generation import generate as make
    from rackwright.generation import load_profile
    from rackwright.generation.distance import distance
    from rackwright.generation.report import render

    wanted = load_profile(profile)
    name = operation.value if operation else None
    with working(f"{wanted.name}: {files} files for each operation") as activity:
        suite = make(
            wanted,
            output,
            files=files,
            seed=seed,
            corpora=tuple(corpus or (SYNTHETIC,)),
            operation=name,
            progress=activity.detail,
        )
    operations = wanted.only(name)
    distances = [distance(each, suite.only(each.operation)) for each in operations]
    report = output / "report.html"
    report.write_text(render(suite, operations, distances), encoding="utf-8")
    if json:
        print_json(
            {
                "profile": wanted.name,
                "source": wanted.source,
                "seed": seed,
                "folder": str(output),
                "digest": suite.digest,
                "assumed": {each.operation: list(each.assumed) for each in operations},
                "rows": [each.record() for each in distances],
            }
        )
    else:
        _print(distances)
    for each in operations:
        for assumption in each.assumed:
            messages.print(f"{each.operation}: {assumption}", highlight=False, soft_wrap=True)
    messages.print(f"report: {report}", highlight=False, soft_wrap=True)


def _print(distances: list[Distance]) -> None:
    columns = (
        ("operation", "left"),
        ("format", "left"),
        ("files", "right"),
        ("bytes", "right"),
        ("call-size gap", "right"),
        ("ratio", "right"),
        ("profile's", "right"),
        ("level gap", "right"),
        ("window gap", "right"),
    )
    print_table(columns, [_cells(each) for each in distances])


def _cells(each: Distance) -> tuple[str, ...]:
    def gap(value: float | None) -> str:
        return "-" if value is None else f"{value:.1%}"

    return (
        each.operation,
        each.format,
        f"{each.files:,}",
        human_bytes(each.total_bytes),
        gap(each.call_size_gap),
        f"{each.ratio_achieved:.3f}",
        f"{each.ratio_asked:.3f} ({each.ratio_error:+.1%})",
        gap(each.level_gap),
        gap(each.window_gap),
    )
