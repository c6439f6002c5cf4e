"""The network of a guest that is booted alone: none, or one that ends in sockets of this host.

Addresses are those of engine/crates/network/gateway/src/user.rs.
"""

from __future__ import annotations

from functools import cache

from rackwright import _engine
from rackwright.designs import design
from rackwright.errors import RackwrightError
from rackwright.nic import server_nic

NETWORKS = ("none", "user")
"""What the network interface of a guest is joined to: it has none, or to this host's sockets."""

_FIND = """echo 1 >/sys/bus/pci/rescan
"""
"""A guest from a checkpoint has looked for cards before this one was there."""

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
    """What root's shell does so that the interface has its address, gateway and name server."""
    return (_FIND * restored + _SET_UP).encode()
