"""Errors that are the user's to fix; the command line prints their message and no traceback."""

from __future__ import annotations


class RackwrightError(Exception):
    """Something asked for cannot be done; the message says what and why in one sentence."""


class MissingBuildError(RackwrightError):
    """Something that `rw` builds is not there yet; `by` is the command that makes it."""

    def __init__(self, what: str, by: str = "./rw demo") -> None:
        super().__init__(f"{what} is not built yet; `{by}` or `./rw test` builds it")
