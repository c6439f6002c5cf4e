"""Recorded messages in files: one in a file, or many, each after its length."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rackwright.errors import RackwrightError
from rackwright.protobuf.wire import read_varint


def read_messages(paths: Sequence[Path], is_delimited: bool = False) -> list[bytes]:
    """The messages of all files, in order.

    Raises `RackwrightError` for a file that cannot be read, or one that ends within a message.
    """
    messages: list[bytes] = []
    for path in paths:
        try:
            data = path.read_bytes()
        except OSError as error:
            raise RackwrightError(f"{path}: {error.strerror}") from error
        messages += split(data, str(path)) if is_delimited else [data]
    if not messages:
        raise RackwrightError("there are no messages to measure")
    return messages


def split(data: bytes, name: str) -> list[bytes]:
    """The messages of a length-prefixed stream; `name` is for the error when it ends within one."""
    messages = []
    at = 0
    while at < len(data):
        try:
            size, at = read_varint(data, at)
        except ValueError as error:
            raise RackwrightError(f"{name}: {error}, where a message's length was expected") from error
        if size > len(data) - at:
            raise RackwrightError(f"{name}: the message at offset {at} has {size} bytes, which is too many")
        messages.append(data[at : at + size])
        at += size
    return messages
