"""`rw docs`: the documentation as a site."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from bootstrap.paths import REPOSITORY
from rackwright.cli.output import messages, working


def docs(
    serve: Annotated[
        bool, typer.Option("--serve", help="Serve the site to this machine until Ctrl-C.")
    ] = False,
    port: Annotated[int, typer.Option(min=1, max=65535, help="--serve: the port.")] = 8000,
    code: Annotated[
        bool, typer.Option("--code", help="With the references of the RTL and of the engine; takes minutes.")
    ] = False,
    output: Annotated[Path, typer.Option("-o", "--output", help="Folder for the site.")] = REPOSITORY
    / "out"
    / "docs",
) -> None:
    """Build the documentation as a site of static files, with search, from this checkout.

    A broken link is an error. The folder needs no server: open its index.html.

    Examples:
        ./rw docs

        ./rw docs -o site

        ./rw docs --code

        ./rw docs --serve --port 8080

    """
    from rackwright.documentation.build import build_site, serve_site

    with working("site"):
        first = build_site(output, code)
    messages.print(f"site: {first}")
    if serve:
        serve_site(output, port, lambda address: messages.print(f"serving {address}; Ctrl-C ends"))
