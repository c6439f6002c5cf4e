"""The files of a profile."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from rackwright.errors import RackwrightError
from rackwright.profiling.compare import Stacks
from rackwright.profiling.folded import folded
from rackwright.profiling.perfetto import perfetto
from rackwright.profiling.pprof import pprof
from rackwright.profiling.report import compared_report
from rackwright.profiling.speedscope import speedscope
from rackwright.profiling.trees import STACKS

if TYPE_CHECKING:
    from rackwright.profiling.observed import Profile

REPORT = "report.html"
COMPARED = "compared.html"
"""The report with a comparison requested later."""


def write(profile: Profile, folder: Path, tell: Callable[[str], None], other: Stacks | None = None) -> None:
    """Writes all files of a profile; the report also shows the difference from the `other` one.

    A file that cannot be written is reported, and the others are still written. Raises `RackwrightError` when
    there is no folder to write to.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise RackwrightError(f"{folder}: {error.strerror}") from None
    files = _FILES | {REPORT: lambda profile, path: path.write_text(profile.flame_graph(other))}
    for name, make in files.items():
        path = folder / name
        try:
            make(profile, path)
        except OSError as error:
            with suppress(OSError):
                path.unlink()
            tell(f"{path} is lost: {error.strerror or error}")
        except ImportError:
            tell(f"{path} is not written: Apache Arrow is missing; rackwright[profile] brings it")


def report_of(folder: Path) -> Path:
    """The report in the folder of a profile; raises `RackwrightError` when there is none."""
    path = folder / REPORT
    if not path.is_file():
        raise RackwrightError(f"{folder}: holds no {REPORT}; `rw profile -o {folder} -- …` makes one")
    return path


def compare(folder: Path, other: Path) -> Path:
    """The report in the folder of a profile, with the difference from the profile in another one.

    Raises `RackwrightError` when there is none in one of them.
    """
    html = report_of(folder).read_text()
    path = folder / COMPARED
    path.write_text(compared_report(html, Stacks.of_folder(folder), Stacks.of_folder(other)))
    return path


def _json(path: Path, value: object) -> None:
    path.write_text(json.dumps(value, indent=2) + "\n")


_FILES: dict[str, Callable[[Profile, Path], object]] = {
    "profile.json": lambda profile, path: _json(path, profile.record()),
    STACKS: lambda profile, path: path.write_text(folded(profile)),
    "profile.speedscope.json": lambda profile, path: path.write_text(json.dumps(speedscope(profile))),
    "profile.pb.gz": lambda profile, path: path.write_bytes(pprof(profile)),
    "trace.perfetto-trace": lambda profile, path: path.write_bytes(perfetto(profile)),
    "calls.parquet": lambda profile, path: profile.calls().to_parquet(path, engine="pyarrow"),
    "counters.parquet": lambda profile, path: profile.counter_samples().to_parquet(path, engine="pyarrow"),
}
