"""Builds the site: a folder of files that needs no server, with search."""

from __future__ import annotations

import io
import re
from collections.abc import Callable
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from bootstrap.paths import BUILD, REPOSITORY
from rackwright.documentation.code import announce_references, build_references
from rackwright.errors import MissingBuildError, RackwrightError

_ROOT = "docs/index.html"
_START = f"""<!doctype html>
<meta charset="utf-8">
<title>Rackwright</title>
<meta http-equiv="refresh" content="0; url={_ROOT}">
<a href="{_ROOT}">Rackwright</a>
"""
_COLOURS = re.compile(r"\x1b\[[\d;]*m")


def build_site(output: Path, code: bool = False) -> Path:
    """Makes the site in the folder `output`, with the references of the `code` if asked to.

    Returns its first page. Raises `RackwrightError` with the warnings of Sphinx, such as a broken link, or of
    the compilers' documentation tools.
    """
    try:
        from sphinx.application import Sphinx
    except ImportError:
        raise MissingBuildError("Sphinx", "./rw docs") from None
    warnings = io.StringIO()
    app = Sphinx(
        srcdir=REPOSITORY,
        confdir=REPOSITORY / "docs",
        outdir=output,
        doctreedir=BUILD / "docs",
        buildername="html",
        status=None,
        warning=warnings,
        parallel=2,
    )
    app.build()
    complaints = _COLOURS.sub("", warnings.getvalue()).strip()
    if complaints or app.statuscode:
        raise RackwrightError(f"the site has warnings:\n{complaints}")
    if code:
        build_references(output)
    announce_references(output)
    first = output / "index.html"
    first.write_text(_START, encoding="utf-8")
    return first


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        """Requests are nobody's concern."""


def serve_site(folder: Path, port: int, begun: Callable[[str], None]) -> None:
    """Serves `folder` to this machine only until it is interrupted; `begun` is called with the address.

    Raises `RackwrightError` when the port is taken.
    """
    try:
        server = ThreadingHTTPServer(("127.0.0.1", port), partial(_Quiet, directory=str(folder)))
    except OSError as error:
        raise RackwrightError(f"port {port}: {error.strerror}") from None
    with server:
        begun(f"http://127.0.0.1:{server.server_port}/")
        server.serve_forever()
