"""The files of a profile."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from rackwright.errors import RackwrightError
from rackwright.profiling.perfetto import perfetto
from rackwright.profiling.pprof import pprof
from rackwright.profiling.speedscope import speedscope

if TYPE_CHECKING:
    from rackwright.profiling.observed import Profile

REPORT = "report.html"


def folded(profile: Profile) -> str:
    """One line for each stack: hart, thread and functions, then its own cycles.

    They add up to the cycles of the run.
    """
    lines = []
    for hart in profile.harts:
        tree = hart.tree
        # The whole text of each node, from its parent's.
        texts = [f"hart {hart.hart}"]
        for node in range(1, len(tree.parents)):
            label = tree.labels[node]
            title = (
                profile.threads[label].title if tree.parents[node] == 0 else profile.functions[label].title
            )
            texts.append(f"{texts[tree.parents[node]]};{title.replace(';', ':')}")
        lines += [f"{text} {cycles}\n" for text, cycles in zip(texts, tree.cycles, strict=True) if cycles]
    return "".join(lines)


def write(profile: Profile, folder: Path, tell: Callable[[str], None]) -> None:
    """Writes all files of a profile.

    One that can't be written is told, and the others are tried all the same. Raises `RackwrightError` when
    there is no folder to write to.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise RackwrightError(f"{folder}: {error.strerror}") from None
    for name, make in _FILES.items():
        path = folder / name
        try:
            make(profile, path)
        except OSError as error:
            with suppress(OSError):
                path.unlink()
            tell(f"{path} is lost: {error.strerror or error}")


def report_of(folder: Path) -> Path:
    """The report in the folder of a profile; raises `RackwrightError` when there is none."""
    path = folder / REPORT
    if not path.is_file():
        raise RackwrightError(f"{folder}: holds no {REPORT}; `rw profile -o {folder} -- …` makes one")
    return path


def _json(path: Path, value: object) -> None:
    path.write_text(json.dumps(value, indent=2) + "\n")


_FILES: dict[str, Callable[[Profile, Path], object]] = {
    "profile.json": lambda profile, path: _json(path, profile.record()),
    "stacks.folded": lambda profile, path: path.write_text(folded(profile)),
    "profile.speedscope.json": lambda profile, path: path.write_text(json.dumps(speedscope(profile))),
    "profile.pb.gz": lambda profile, path: path.write_bytes(pprof(profile)),
    "trace.perfetto-trace": lambda profile, path: path.write_bytes(perfetto(profile)),
    "calls.parquet": lambda profile, path: profile.calls().to_parquet(path, engine="pyarrow"),
    "counters.parquet": lambda profile, path: profile.counter_samples().to_parquet(path, engine="pyarrow"),
    REPORT: lambda profile, path: path.write_text(profile.flame_graph()),
}
