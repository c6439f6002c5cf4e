"""Two network namespaces with a cable between them: a dispatcher with an interface of its own."""

from __future__ import annotations

import ctypes
import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from types import TracebackType

from rackwright.errors import RackwrightError

NEAR, FAR = "10.9.0.1", "10.9.0.2"
"""The addresses of the dispatcher's end of the cable, and of the other end."""

INTERFACE = "near0"
"""The dispatcher's interface."""

_CLONE_NEWNET = 0x4000_0000
_LIBC = ctypes.CDLL(None, use_errno=True)


class Namespaces:
    """Network namespaces that exist until the `with` block and all processes in them have ended.

    Raises `RackwrightError` when they are not permitted, or there is no `ip`.
    """

    def __init__(self) -> None:
        self._own = _present()
        self._descriptors = [self._own]
        try:
            self._far, self._near = self._fresh(), self._fresh()
            far = f"/proc/{os.getpid()}/fd/{self._far}"
            ip("link", "add", INTERFACE, "type", "veth", "peer", "name", "far0", "netns", far)
            _settle(INTERFACE, NEAR)
            with self.far():
                _settle("far0", FAR)
        except BaseException:
            self.close()
            raise
        _enter(self._own)

    def _fresh(self) -> int:
        if _LIBC.unshare(_CLONE_NEWNET) != 0:
            reason = os.strerror(ctypes.get_errno())
            raise RackwrightError(f"network namespaces cannot be made ({reason}); it needs root")
        descriptor = _present()
        self._descriptors.append(descriptor)
        return descriptor

    @contextmanager
    def near(self) -> Iterator[None]:
        """Sockets, threads and processes of this thread in the block are in the dispatcher's namespace."""
        with _inside(self._near):
            yield

    @contextmanager
    def far(self) -> Iterator[None]:
        """The same for the namespace of clients and replicas."""
        with _inside(self._far):
            yield

    def close(self) -> None:
        """Returns to the previous namespace of this thread."""
        _enter(self._own)
        while self._descriptors:
            os.close(self._descriptors.pop())

    def __enter__(self) -> Namespaces:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def ip(*arguments: str) -> str:
    """Calls `ip` in the namespace of this thread; returns its output.

    Raises `RackwrightError` when it cannot.
    """
    try:
        result = subprocess.run(["ip", *arguments], capture_output=True, text=True, check=True)
    except FileNotFoundError:
        raise RackwrightError(
            "`ip` is not installed; install it with: sudo apt-get install iproute2"
        ) from None
    except subprocess.CalledProcessError as error:
        raise RackwrightError(f"ip {' '.join(arguments)}: {error.stderr.strip()}") from None
    return result.stdout


def _present() -> int:
    return os.open("/proc/thread-self/ns/net", os.O_RDONLY | os.O_CLOEXEC)


def _enter(namespace: int) -> None:
    if _LIBC.setns(namespace, _CLONE_NEWNET) != 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


@contextmanager
def _inside(namespace: int) -> Iterator[None]:
    before = _present()
    try:
        _enter(namespace)
        yield
    finally:
        _enter(before)
        os.close(before)


def _settle(interface: str, address: str) -> None:
    ip("address", "add", f"{address}/24", "dev", interface)
    ip("link", "set", "lo", "up")
    ip("link", "set", interface, "up")
