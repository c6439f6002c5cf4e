"""Runs with their harts observed."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rackwright import _engine
from rackwright.profiling.observed import Profile

if TYPE_CHECKING:
    from rackwright.server import Server

EVERY = 100_000
"""Cycles between two looks at the counters, if nothing else is asked for."""


def profile(
    server: Server,
    program: str | Path,
    arguments: Sequence[str] = (),
    *,
    every: int = EVERY,
    **options: Any,
) -> Profile:
    """Runs a program on `server`, and says where its cycles went.

    The `options` are those of `Server.run`, and the run is the same, cycle by cycle. Counters are looked at
    `every` so many cycles.
    """
    observer = _engine.Observer(every)
    result = server.run(program, arguments, observer=observer, **options)
    return Profile.of(
        observer.profile(),
        command=" ".join([Path(program).name, *arguments]),
        cpu=server.cpu,
        clock_hz=result.clock_hz,
        exit_code=result.exit_code,
        digest=result.digest,
        wall_seconds=result.wall_seconds,
        counters=tuple(_engine.Observer.counters()),
    )
