"""Runs with their harts observed."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rackwright.profiling.observed import Profile
from rackwright.profiling.watching import EVERY, Watching

if TYPE_CHECKING:
    from rackwright.linux.image import Image
    from rackwright.server import Server


def profile(
    server: Server,
    program: str | Path,
    arguments: Sequence[str] = (),
    *,
    watching: Watching | None = None,
    every: int = EVERY,
    **options: Any,
) -> Profile:
    """Runs a program on `server`, and says where its cycles went.

    The `options` are those of `Server.run`, and the run is the same, cycle by cycle. Counters are looked at
    `every` so many cycles; `watching` says more of what is observed.
    """
    observer = (watching or Watching(every=every)).observer()
    result = server.run(program, arguments, observer=observer, **options)
    return Profile.of(
        observer,
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
    """Boots `image` and runs `command` in it as `boot` does, and says where the cycles of all harts went.

    The `options` are those of `boot`, or of `restore` when `checkpoint` is a file to go on from: the cycles
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
        command=command,
        cpu=result.cpu,
        exit_code=result.exit_code,
        digest=result.digest,
        wall_seconds=result.boot.wall_seconds + result.wall_seconds,
    )
