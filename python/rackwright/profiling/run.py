"""Runs with their harts observed."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rackwright.profiling.observed import Profile
from rackwright.profiling.watching import EVERY, Watching

if TYPE_CHECKING:
    from rackwright.linux.image import Image
    from rackwright.machine.server import Server


def profile(
    server: Server,
    program: str | Path,
    arguments: Sequence[str] = (),
    *,
    watching: Watching | None = None,
    every: int = EVERY,
    **options: Any,
) -> Profile:
    """Runs a program on `server`, and returns the distribution of its cycles.

    The `options` are those of `Server.run`, and the run is the same, cycle by cycle. Counters are sampled
    `every` this number of cycles; `watching` has further settings.
    """
    observer = (watching or Watching(every=every)).observer()
    result = server.run(program, arguments, observer=observer, **options)
    return Profile.of(
        observer,
        fabric=server.fabric,
        command=" ".join([Path(program).name, *arguments]),
        cpu=server.cpu,
        exit_code=result.exit_code,
        digest=result.digest,
        wall_seconds=result.wall_seconds,
    )


def profile_boot(
    image: Image,
    command: str,
    *,
    watching: Watching | None = None,
    every: int = EVERY,
    checkpoint: Path | None = None,
    **options: Any,
) -> Profile:
    """Boots `image` and runs `command` as `boot` does; returns the distribution of all harts' cycles.

    The `options` are those of `boot`, or of `restore` if `checkpoint` is a file to continue from: the cycles
    before it then have no stack.
    """
    from rackwright.linux.boot import boot, restore

    observer = (watching or Watching(every=every)).observer()
    if checkpoint is None:
        result = boot(image, command, observer=observer, **options)
    else:
        result = restore(checkpoint, command, observer=observer, image=image, **options)
    return Profile.of(
        observer,
        fabric=options.get("fabric"),
        command=command,
        cpu=result.cpu,
        exit_code=result.exit_code,
        digest=result.digest,
        wall_seconds=result.boot.wall_seconds + result.wall_seconds,
    )
