"""The network of a guest that is booted alone: none, or one that ends in sockets of this host.

Addresses equal those of engine/crates/network/gateway/src/user.rs.
"""

from __future__ import annotations

from functools import cache

from rackwright import _engine
from rackwright.errors import RackwrightError
from rackwright.hardware.designs import design
from rackwright.unit.nic import server_nic

NETWORKS = ("none", "user")
"""The connection of a guest's network interface: none, or this host's sockets."""

_FIND = """echo 1 >/sys/bus/pci/rescan
"""
"""A guest from a checkpoint has scanned the bus before this card was attached."""

_SET_UP = """modprobe virtio_net
ip address add 10.0.2.15/24 dev eth0
ip link set eth0 up
ip route add default via 10.0.2.2
echo nameserver 10.0.2.3 >/etc/resolv.conf
"""


@cache
def virtio_interface() -> _engine.Design:
    """The network interface in RTL that Linux's own driver drives."""
    return design(server_nic(virtio=True))


def interface(net: str) -> _engine.Design | None:
    """The card that a guest has with `net`. Raises `RackwrightError` when there is no such network."""
    if net not in NETWORKS:
        raise RackwrightError(f"no network {net!r}; there are {', '.join(NETWORKS)}")
    return virtio_interface() if net == "user" else None


def set_up(*, restored: bool) -> bytes:
    """The commands of root's shell that configure the interface's address, gateway and name server."""
    return (_FIND * restored + _SET_UP).encode()
