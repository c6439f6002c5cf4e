"""Connections between the processes of a run, which detect lost processes and carry their measurements.

MPI does not report that a process has died, and may wait for it forever. The kernel does: it closes the
connections of a process however it ends. A process that exits intentionally announces it first.
"""

from __future__ import annotations

import fcntl
import json
import os
import select
import socket
import struct
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rackwright.errors import RackwrightError

_CONNECT_SECONDS = 10.0
_GATHER_SECONDS = 0.8
"""mpirun kills the rest of a job a second after a process was lost."""

_SIOCGIFADDR = 0x8915
_LENGTH = struct.Struct("<I")


@dataclass
class _Peer:
    connection: socket.socket
    received: bytearray = field(default_factory=bytearray)
    gone: bool = False

    def message(self) -> Any | None:
        """The one message that a process sends before it exits, once it has arrived completely."""
        if len(self.received) < _LENGTH.size:
            return None
        (length,) = _LENGTH.unpack_from(self.received)
        text = self.received[_LENGTH.size :]
        return json.loads(text) if len(text) >= length else None


class Watch:
    """Connections to all other processes, by rank."""

    def __init__(self, rank: int, all_gather: Callable[[Any], list[Any]]) -> None:
        """Connects to all others, whose whereabouts `all_gather` collects.

        Raises `RackwrightError` when one cannot be reached.
        """
        with socket.create_server(("", 0), backlog=4096) as listener:
            listener.settimeout(_CONNECT_SECONDS)
            self._places = all_gather(_place(listener.getsockname()[1]))
            self.rank = rank
            self._peers: dict[int, _Peer] = {}
            for other in range(rank):
                connection = _connect(self.name(other), self._places[rank], self._places[other])
                connection.sendall(_LENGTH.pack(rank))
                self._peers[other] = _Peer(connection)
            for _ in range(rank + 1, len(self._places)):
                try:
                    connection, _address = listener.accept()
                except TimeoutError:
                    raise RackwrightError("not all ranks of the run can reach each other") from None
                (other,) = _LENGTH.unpack(connection.recv(_LENGTH.size, socket.MSG_WAITALL))
                self._peers[other] = _Peer(connection)

    def name(self, rank: int) -> str:
        """A rank as messages call it."""
        place = self._places[rank]
        return f"rank {rank} (process {place['pid']} on {place['host']})"

    def lost(self, seconds: float = 0.0) -> list[int]:
        """The ranks that left without a word, or that others have lost; waits up to `seconds` for news."""
        self._listen(seconds)
        silent = {rank for rank, peer in self._peers.items() if peer.gone and peer.message() is None}
        told = (peer.message() for peer in self._peers.values())
        return sorted(silent.union(*(message["lost"] for message in told if message)))

    def leave(self, lost: list[int], report: str) -> None:
        """Announces the exit to all: the lost ranks, and the measurements of this one."""
        text = json.dumps({"lost": lost, "report": report}).encode()
        for peer in self._peers.values():
            peer.connection.settimeout(_GATHER_SECONDS)
            try:
                peer.connection.sendall(_LENGTH.pack(len(text)) + text)
                peer.connection.shutdown(socket.SHUT_WR)
            except OSError:
                continue

    def gather(self, lost: list[int]) -> Mapping[int, str]:
        """The measurements of the other ranks, as far as they arrive in time."""
        end = time.monotonic() + _GATHER_SECONDS
        others = [peer for rank, peer in self._peers.items() if rank not in lost]
        while time.monotonic() < end and any(not peer.gone and not peer.message() for peer in others):
            self._listen(end - time.monotonic())
        messages = {rank: peer.message() for rank, peer in self._peers.items()}
        return {rank: message["report"] for rank, message in messages.items() if message}

    def _listen(self, seconds: float) -> None:
        open_ones = {peer.connection: peer for peer in self._peers.values() if not peer.gone}
        ready, _, _ = select.select(list(open_ones), [], [], max(0.0, seconds))
        for connection in ready:
            peer = open_ones[connection]
            try:
                data = connection.recv(1 << 20)
            except OSError:
                data = b""
            peer.received += data
            peer.gone = not data


def _place(port: int) -> dict[str, Any]:
    return {
        "host": socket.gethostname(),
        "pid": os.getpid(),
        "port": port,
        "network": [Path("/proc/sys/kernel/random/boot_id").read_text(), os.readlink("/proc/self/ns/net")],
        "addresses": _addresses(),
    }


def _addresses() -> list[str]:
    """The IPv4 addresses of this machine by which others may reach it."""
    found = []
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        for _, name in socket.if_nameindex():
            request = struct.pack("256s", name.encode())
            try:
                answer = fcntl.ioctl(any_socket.fileno(), _SIOCGIFADDR, request)
            except OSError:
                continue
            found.append(socket.inet_ntoa(answer[20:24]))
    return [address for address in found if not address.startswith("127.")]


def _connect(name: str, own: dict[str, Any], other: dict[str, Any]) -> socket.socket:
    here = own["network"] == other["network"]
    for address in ["127.0.0.1"] if here else other["addresses"]:
        try:
            return socket.create_connection((address, other["port"]), timeout=_CONNECT_SECONDS)
        except OSError:
            continue
    raise RackwrightError(f"{name} cannot be reached at {', '.join(other['addresses']) or 'any address'}")
