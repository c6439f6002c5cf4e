"""The pins that the contracts of a unit's ports promise, as `soc/…/rackwright/soc/` connects them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from rackwright.hardware.manifests import interrupt_pin, main_clock

REGISTERS = ("mmio", "axi4-lite")
"""Contracts by which programs reach the registers of a unit."""

_COMMAND = {
    "request_ready": 1,
    "request_valid": 1,
    "request_bits_opcode": 2,
    "request_bits_funct": 7,
    "request_bits_rs1": 64,
    "request_bits_rs2": 64,
    "request_bits_rd": 5,
    "request_bits_xd": 1,
    "response_ready": 1,
    "response_valid": 1,
    "response_bits_rd": 5,
    "response_bits_data": 64,
}
_CONTEXT = {
    "request_bits_context_satp": 64,
    "request_bits_context_privilege": 2,
    "request_bits_context_sum": 1,
    "request_bits_context_mxr": 1,
    "fence": 1,
}
"""What commands of a unit that translates have, too."""

_MMIO = {
    "request_ready": 1,
    "request_valid": 1,
    "request_bits_address": 12,
    "request_bits_write": 1,
    "request_bits_data": 64,
    "response_ready": 1,
    "response_valid": 1,
    "response_bits_data": 64,
}
_STREAM = ("valid", "bits_data", "bits_keep", "bits_last", "ready")
_READ, _WRITE = ("ar", "r"), ("aw", "w", "b")


@dataclass(frozen=True)
class Pin:
    """A pin by its name and its width; an input of the unit or an output."""

    name: str
    bits: int
    input: bool


def pins_of(record: dict[str, Any]) -> dict[str, int]:
    """The pins of a unit that a chip connects, by its manifest, each with its width in bits."""
    clock = main_clock(record)
    pins = {clock["pin"]: 1, clock["reset"]: 1}
    if record.get("idle"):
        pins[record["idle"]] = 1
    for port in record["ports"]:
        name = port["name"]
        if port["contract"] == "command":
            command = _COMMAND | (_CONTEXT if port.get("translated") else {})
            pins |= {f"{name}_{pin}": width for pin, width in command.items()}
        elif port["contract"] == "memory":
            pins |= {f"{name}_{pin}": width for pin, width in _memory(port).items()}
        elif port["contract"] == "interrupt":
            pins[interrupt_pin(port)] = 1
        else:
            pins |= {pin.name: pin.bits for pin in bus_pins(port).values()}
    return pins


def bus_pins(port: dict[str, Any]) -> dict[str, Pin]:
    """The pins of a port of a unit on the buses by their signals; none for a port of another contract."""
    name = port["name"]
    if port["contract"] == "mmio":
        return {
            signal: Pin(f"{name}_{signal}", bits, signal.startswith("request") != signal.endswith("ready"))
            for signal, bits in _MMIO.items()
        }
    if port["contract"] == "stream":
        widths = {"bits_data": 8 * port["bytes"], "bits_keep": port["bytes"]}
        arrives = port["direction"] == "in"
        return {
            signal: Pin(f"{name}_{signal}", widths.get(signal, 1), arrives != (signal == "ready"))
            for signal in _STREAM
        }
    if port["contract"] not in ("axi4", "axi4-lite"):
        return {}
    return {
        signal: Pin(_amba(port, signal), bits, _is_input(port, signal)) for signal, bits in _axi(port) if bits
    }


def _amba(port: dict[str, Any], signal: str) -> str:
    """The name of a pin as the manifest says that they are called: as AMBA does, or as elaboration does."""
    short = signal.replace("_bits_", "").replace("_", "")
    spelled = {"lower": short, "upper": short.upper()}
    return f"{port['name']}_{spelled.get(port.get('naming', ''), signal)}"


def _is_input(port: dict[str, Any], signal: str) -> bool:
    """Whether the unit receives a signal: a manager sends requests, a subordinate sends responses."""
    is_response = signal.split("_")[0] in ("r", "b")
    from_other = is_response == (port["contract"] == "axi4")
    return bool(from_other != signal.endswith("_ready"))


def _axi(port: dict[str, Any]) -> Iterator[tuple[str, int]]:
    """The signals of AXI4, or those of them that AXI4-Lite has, with widths; an identifier may have none."""
    bursts = port["contract"] == "axi4"
    way = port.get("direction")
    channels = {"read": _READ, "write": _WRITE}.get(way or "", _READ + _WRITE)
    for channel in channels:
        yield f"{channel}_ready", 1
        yield f"{channel}_valid", 1
        if bursts and channel != "w":
            yield f"{channel}_bits_id", port["id_bits"]
        if channel.startswith("a"):
            yield f"{channel}_bits_addr", port.get("address_bits", 64)
            if bursts:
                yield from ((f"{channel}_bits_{name}", bits) for name, bits in _BURST.items())
            continue
        if channel != "b":
            yield f"{channel}_bits_data", 8 * port["bytes"]
        if channel == "w":
            yield "w_bits_strb", port["bytes"]
        else:
            yield f"{channel}_bits_resp", 2
        if bursts and channel != "b":
            yield f"{channel}_bits_last", 1


_BURST = {"len": 8, "size": 3, "burst": 2}


def _memory(port: dict[str, Any]) -> dict[str, int]:
    size, tag = port["bytes"], port["tag_bits"]
    return {
        "request_ready": 1,
        "request_valid": 1,
        "request_bits_address": port.get("address_bits", 64),
        "request_bits_write": 1,
        "request_bits_data": 8 * size,
        "request_bits_mask": size,
        "request_bits_tag": tag,
        "response_ready": 1,
        "response_valid": 1,
        "response_bits_tag": tag,
        "response_bits_data": 8 * size,
        "response_bits_fault": 1,
    }
