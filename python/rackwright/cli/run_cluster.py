"""`rw run CLUSTER.py`: a script that makes a cluster and runs it."""

from __future__ import annotations

import contextlib
import json as json_format
import os
import runpy
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from bootstrap.console import EXIT_INTERRUPTED
from bootstrap.paths import REPOSITORY
from rackwright.cli.output import messages, print_json, working
from rackwright.errors import RackwrightError

if TYPE_CHECKING:
    from rackwright.cluster import ClusterResult
    from rackwright.cluster.session import Observing, Session

DEFAULT_FOLDER = REPOSITORY / "out" / "run"


def run_cluster(
    script: Path,
    arguments: Sequence[str],
    *,
    values: Sequence[str],
    threads: int | None,
    pcap_ports: Sequence[str] = (),
    consoles: Sequence[str] = (),
    output: Path | None = None,
    checkpoint: Path | None = None,
    checkpoint_us: float | None = None,
    restart: Path | None = None,
    observing: Observing | None = None,
    json: bool = False,
) -> int:
    """Runs the script as Python would, and reports on every run of a cluster in it.

    With `json`, the script's own output is redirected to standard error. Returns the script's exit status.
    Raises `RackwrightError` if the script runs no cluster, and for errors of a cluster.
    """
    from rackwright.cluster.errors import InterruptedRun
    from rackwright.cluster.ranks import world
    from rackwright.cluster.session import Session, session
    from rackwright.cluster.settings import Settings

    folder = output or (DEFAULT_FOLDER if pcap_ports else None)
    if folder:
        folder.mkdir(parents=True, exist_ok=True)
    asked = Session(
        Settings(values),
        threads=threads,
        pcap_ports=pcap_ports,
        folder=folder,
        checkpoint=checkpoint,
        checkpoint_us=checkpoint_us,
        restart=restart,
        observing=observing,
    )
    ranks = world()
    if ranks and not ranks.leads:
        # Every rank runs the script; one speaks.
        with _silence(), session(asked):
            return execute(script, arguments)
    try:
        with working(script.name) as activity:

            def show(now: float, until: float, rest: float) -> None:
                activity.detail(f"{script.name}: {now:,.0f} of {until:,.0f} us, {rest:.0f} s left")

            asked.progress = show
            with session(asked), contextlib.redirect_stdout(sys.stderr if json else sys.stdout):
                status = execute(script, arguments)
    except InterruptedRun as end:
        kept = f"; what was measured is in {output}" if output else "; with -o what was measured is kept"
        print(f"rw: {end}{kept}", file=sys.stderr)
        raise typer.Exit(EXIT_INTERRUPTED) from None
    finally:
        if output and asked.results:
            _write(asked)
        files = keep_consoles(asked.results, folder or DEFAULT_FOLDER)
    if not asked.results and not asked.stepped:
        raise RackwrightError(f"{script}: the script ended without running a cluster: Cluster(…).run(…)")
    asked.settings.check_used()
    if json:
        print_json(_document(asked.results))
    else:
        sys.stdout.flush()
        for result in asked.results:
            messages.print(str(result), highlight=False, soft_wrap=True)
    for name in consoles:
        _show_console(name, files)
    if folder:
        messages.print(f"written to {folder}", highlight=False, soft_wrap=True)
    return status


def keep_consoles(results: Sequence[ClusterResult], folder: Path) -> dict[str, Path]:
    """Writes the output of the consoles of Linux servers, with a number in the name from the second run on.

    Returns the files of the last run by the names of the servers.
    """
    kept = {}
    for number, result in enumerate(results):
        for server in result.rows["servers"]:
            if server["console"]:
                folder.mkdir(parents=True, exist_ok=True)
                path = folder / f"{server['name']}{number or ''}.console"
                path.write_text(server["console"], encoding="utf-8")
                kept[server["name"]] = path
    return kept


def _show_console(name: str, kept: dict[str, Path]) -> None:
    """The console output of a server. Raises `RackwrightError` when it has none."""
    if name not in kept:
        known = ", ".join(sorted(kept)) or "none"
        raise RackwrightError(f"no Linux server is called {name}; there are {known}")
    print(kept[name].read_text(encoding="utf-8"), end="")


@contextlib.contextmanager
def _silence() -> Iterator[None]:
    with open(os.devnull, "w", encoding="utf-8") as nowhere, contextlib.redirect_stdout(nowhere):
        yield


def execute(script: Path, arguments: Sequence[str]) -> int:
    """Runs a script as Python would; returns its exit status.

    Raises `RackwrightError` for a script that is not Python.
    """
    with _looks_like(script, arguments):
        try:
            runpy.run_path(str(script), run_name="__main__")
        except SystemExit as end:
            if isinstance(end.code, str):
                print(end.code, file=sys.stderr)
            return end.code if isinstance(end.code, int) else int(end.code is not None)
        except SyntaxError as error:
            raise RackwrightError(f"{script}: line {error.lineno}: {error.msg}") from None
    return 0


@contextlib.contextmanager
def _looks_like(script: Path, arguments: Sequence[str]) -> Iterator[None]:
    """The script finds its arguments and the files beside it, as if Python had started it."""
    before = sys.argv, sys.path
    sys.argv, sys.path = [str(script), *arguments], [str(script.resolve().parent), *sys.path]
    try:
        yield
    finally:
        sys.argv, sys.path = before


def _document(results: Sequence[ClusterResult]) -> Any:
    records = [result.record() for result in results]
    return records[0] if len(records) == 1 else {"runs": records}


def _write(asked: Session) -> None:
    for number, result in enumerate(asked.results):
        for name in ("servers", "switches", "ports", "samples"):
            path = asked.path(name, ".csv", number)
            if path and result.rows[name]:
                getattr(result, name).to_csv(path, index=False)
    if asked.folder:
        text = json_format.dumps(_document(asked.results), indent=2) + "\n"
        (asked.folder / "run.json").write_text(text, encoding="utf-8")
