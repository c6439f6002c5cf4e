"""Errors that are the user's to fix; the command line prints their message and no traceback."""

from __future__ import annotations


class RackwrightError(Exception):
    """A request cannot be performed; the message states what and why in one sentence."""


class MissingBuildError(RackwrightError):
    """A build result of `rw` is missing; `by` is the command that builds it."""

    def __init__(self, what: str, by: str = "./rw demo") -> None:
        super().__init__(f"{what} is not built yet; `{by}` or `./rw test` builds it")
