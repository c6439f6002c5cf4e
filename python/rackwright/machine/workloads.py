"""What runs on a server."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rackwright.errors import RackwrightError

if TYPE_CHECKING:
    from rackwright.cluster.nodes import Node


@dataclass(frozen=True)
class BareMetal:
    """A program without an operating system, on a server of a cluster, whose network interface it drives.

    `path` is that of an ELF file, or the name of one of software/network, such as "ping.elf". An argument
    that is another server stands for its IP address. With `static_arp`, the program knows the hardware
    addresses of those servers from the start, as after `arp -s`, and does not ask for them by broadcast.
    """

    path: str | Path
    arguments: Sequence[str | Node] = ()
    static_arp: bool = False


@dataclass(frozen=True)
class Linux:
    """Debian that boots from `image`, the path of one that `rw image` has made, or "default".

    `run` is what root's shell does when it has booted, and when that ends, the server is switched off;
    servers among its parts stand for their IP addresses. Without it, the server stays on.

    With a `checkpoint` it has booted before: any number of servers go on from one file that
    `rw boot --checkpoint` has written, with the harts and the memory of that machine, and share the memory
    that they don't write. The `image` that was booted is then needed only to profile them. With `static_arp`,
    it knows the hardware addresses of the servers among the parts of `run` from the start.
    """

    image: str | Path | None = None
    run: str | Sequence[str | Node] | None = None
    checkpoint: str | Path | None = None
    static_arp: bool = False


@dataclass(frozen=True)
class Program:
    """A static RV64GC program of Linux in user mode: its system calls are emulated, without a kernel.

    `path` is that of the ELF file. In a cluster, an argument that is another server stands for its IP
    address. Its sockets connect its own threads only; its standard input is empty, and it can write no files.
    """

    path: str | Path
    arguments: Sequence[str | Node] = ()


Workload = BareMetal | Linux | Program
"""What a server can run."""


def workload_of(
    *,
    program: str | Path | None = None,
    arguments: Sequence[str | Node] = (),
    static_arp: bool = False,
    image: str | Path | None = None,
    checkpoint: str | Path | None = None,
    run: str | Sequence[str | Node] | None = None,
) -> BareMetal | Linux | None:
    """The workload of these parts, None without any.

    Raises `RackwrightError` for parts of two, and of none.
    """
    of_linux = _given(image=image, checkpoint=checkpoint, run=run)
    of_bare_metal = _given(program=program, arguments=arguments or None)
    if of_linux and of_bare_metal:
        first, second = of_bare_metal[0], of_linux[0]
        raise RackwrightError(f"`{first}` is of bare metal, `{second}` of Linux: a server runs one")
    if program is not None:
        return BareMetal(program, arguments, static_arp)
    if image is not None or checkpoint is not None:
        return Linux(image, run, checkpoint, static_arp)
    for name in [*of_bare_metal, *of_linux, *_given(static_arp=static_arp or None)]:
        needs = "an image to boot" if name in of_linux else "a program"
        raise RackwrightError(f"`{name}` needs {needs}")
    return None


def given_singly(workload: Workload | None, **parts: Any) -> Workload | None:
    """The workload of a server that may have been given parts of one, as before there were workloads.

    Warns of what was given so, with the new form. Raises as `workload_of`, and for parts beside a workload.
    """
    names = _given(**{name: part for name, part in parts.items() if part not in ((), False)})
    if not names:
        return workload
    if workload is not None:
        raise RackwrightError(f"a server with a workload has no `{names[0]}`")
    found = workload_of(**parts)
    form = "Linux(…)" if isinstance(found, Linux) else "BareMetal(…)"
    old = ", ".join(f"{name}=…" for name in names)
    warnings.warn(f"Server({old}) becomes Server(workload={form})", FutureWarning, stacklevel=3)
    return found


def _given(**parts: object) -> list[str]:
    return [name for name, part in parts.items() if part is not None]
