"""What people know of a design that they bring."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True)
class Known:
    """What its user knows of a design, and its files do not say.

    `top` is its top module, where there are several; `target` that of a core file; `include` are folders of
    included files; `clock` and `reset` are inputs; `parameters` are values of the top module's, and of those
    of its interfaces (`PORT.NAME`); `registers` is a file in SystemRDL that describes those behind its
    register port.
    """

    top: str | None = None
    target: str | None = None
    include: tuple[Path, ...] = ()
    clock: str | None = None
    reset: str | None = None
    parameters: Mapping[str, str] = field(default_factory=dict)
    registers: Path | None = None
