"""Addresses as people write them, `host:port`, and as the engine reads them."""

from __future__ import annotations

import socket

from rackwright.errors import RackwrightError


def endpoint(text: str) -> str:
    """`text`, whose host may be a name, with the host's number: `localhost:11211` is `127.0.0.1:11211`.

    Raises `RackwrightError` when it is no address or the name is unknown.
    """
    host, colon, port = text.rpartition(":")
    if not (colon and host and port.isascii() and port.isdecimal() and int(port) < 1 << 16):
        raise RackwrightError(f"'{text}' is no address; write HOST:PORT, for example 127.0.0.1:11211")
    try:
        found = socket.getaddrinfo(host.strip("[]"), int(port), type=socket.SOCK_DGRAM)
    except OSError as error:
        raise RackwrightError(f"'{text}': the host cannot be found ({error.strerror})") from None
    family, _, _, _, address = found[0]
    number = str(address[0])
    return f"[{number}]:{port}" if family == socket.AF_INET6 else f"{number}:{port}"
