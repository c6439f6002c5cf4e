"""Two equal systems on one die, joined by the streams of a unit of each: the module around them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rackwright.errors import RackwrightError

_PORT = re.compile(r"^\s*(input|output)\s+(\[\d+:0\])?\s*(\w+),?\s*$", re.MULTILINE)
_STREAM = ("valid", "ready", "bits_data", "bits_keep", "bits_last")
_SHARED = ("clock", "reset")


@dataclass(frozen=True)
class TopPort:
    """A port of a module that FIRRTL wrote; `bits` is its range in Verilog, empty for a single bit."""

    direction: str
    bits: str
    name: str


def top_ports(verilog: str, module: str) -> list[TopPort]:
    """The ports of a module. Raises `RackwrightError` when the text does not declare it."""
    declared = re.search(rf"^module {module}\((.*?)\);", verilog, re.MULTILINE | re.DOTALL)
    if declared is None:
        raise RackwrightError(f"the generated Verilog has no module {module}")
    return [TopPort(way, bits or "", name) for way, bits, name in _PORT.findall(declared[1])]


def pair_module(
    top: str, system: str, ports: Sequence[TopPort], streams: tuple[str, str], prefixes: Sequence[str]
) -> str:
    """The module `top` of two instances of `system`: what one sends by its stream arrives at the other.

    `streams` are the streams of a system, out and in. Clock and reset are shared; every other pin of a system
    becomes a pin of the chip with its prefix.
    """
    joined = {f"{stream}_{signal}" for stream in streams for signal in _STREAM}
    free = [port for port in ports if port.name not in joined and port.name not in _SHARED]
    pins = [f"  input {name}" for name in _SHARED]
    pins += [f"  {each.direction} {each.bits} {prefix}{each.name}" for prefix in prefixes for each in free]
    lines = [f"module {top}(", ",\n".join(pins), ");"]
    # A wire for each signal of the stream that leaves a system, by the name of that system.
    out, in_ = streams
    for port in ports:
        if port.name in {f"{out}_{signal}" for signal in _STREAM}:
            lines += [f"  wire {port.bits} {prefix}{port.name};" for prefix in prefixes]
    for prefix, other in zip(prefixes, reversed(prefixes), strict=True):
        connected = [*_SHARED_PINS, *(f".{each.name}({prefix}{each.name})" for each in free)]
        connected += _streams(prefix, other, out, in_)
        lines += [f"  {system} {prefix.rstrip('_')} (", ",\n".join(f"    {pin}" for pin in connected), "  );"]
    return "\n".join([*lines, "endmodule", ""])


_SHARED_PINS = [f".{name}({name})" for name in _SHARED]


def _streams(prefix: str, other: str, out: str, in_: str) -> Iterator[str]:
    for signal in _STREAM:
        yield f".{out}_{signal}({prefix}{out}_{signal})"
        yield f".{in_}_{signal}({other}{out}_{signal})"
