"""Sizes of memories, as people write them."""

from __future__ import annotations

import re

from rackwright.errors import RackwrightError

_UNITS = {"": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}


def memory_bytes(text: str) -> int:
    """The number of bytes of "2GiB", "512MiB" or a plain number. Raises `RackwrightError` for others."""
    found = re.fullmatch(r"(\d+) ?(|KiB|MiB|GiB)", text.strip())
    bytes_ = int(found[1]) * _UNITS[found[2]] if found else 0
    if not 0 < bytes_ <= 1 << 40:
        raise RackwrightError(f"{text!r} is no size of memory; say for example 512MiB or 2GiB")
    return bytes_
