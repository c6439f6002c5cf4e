"""`rw image`: a system for a simulated server, from the distribution's packages."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rackwright.cli.output import JsonOption, human_bytes, print_json, print_record, working


def image(
    packages: Annotated[
        str | None,
        typer.Option(metavar="NAME,NAME", help="Additional packages; their dependencies are included."),
    ] = None,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="FILE", help="Also write the image here.")
    ] = None,
    lock: Annotated[
        bool, typer.Option("--lock", help="First lock these packages to the current versions.")
    ] = False,
    json: JsonOption = False,
) -> None:
    """Build an image of Debian 13 for riscv64: firmware, kernel, and the files of packages.

    Needs no root. This machine's package client fetches the packages from its configured mirror, or from that
    in RACKWRIGHT_DEBIAN_MIRROR. Packages have the versions in software/linux/packages.json as long as the
    mirror has them, and are checked by their hashes; others come from the distribution's lists, whose
    signature is checked. Images are cached.

    Examples:
        ./rw image

        ./rw image --packages memcached,iperf3 -o memcached.image

    """
    from rackwright.linux.image import build_image, load_image, lock_image

    names = [name.strip() for name in (packages or "").split(",") if name.strip()]
    with working("image") as activity:
        if lock:
            lock_image(names, activity.begin)
        path = build_image(names, output, activity.begin)
        made = load_image(path)
    if json:
        record = {"image": str(path), "bytes": path.stat().st_size, "packages": list(made.packages)}
        print_json(record)
        return
    size = human_bytes(path.stat().st_size)
    print_record([("image", str(path)), ("size", size), ("packages", ", ".join(made.packages))])
