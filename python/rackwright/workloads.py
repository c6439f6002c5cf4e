"""What runs on a server."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rackwright.cluster.nodes import Node


@dataclass(frozen=True)
class Program:
    """A static RV64GC program of Linux in user mode: its system calls are emulated, without a kernel.

    `path` is that of the ELF file. In a cluster, an argument that is another server stands for its IP
    address. Its sockets connect its own threads only; its standard input is empty, and it can write no files.
    """

    path: str | Path
    arguments: Sequence[str | Node] = ()
