"""The pins that the contracts of a unit's ports promise, as `soc/…/UnitBox.scala` connects them."""

from __future__ import annotations

from typing import Any

from rackwright.manifests import interrupt_pin, main_clock

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


def pins_of(record: dict[str, Any]) -> dict[str, int]:
    """The pins of a unit that a chip connects, by its manifest, each with its width in bits."""
    clock = main_clock(record)
    pins = {clock["pin"]: 1, clock["reset"]: 1}
    if record.get("idle"):
        pins[record["idle"]] = 1
    for port in record["ports"]:
        name = port["name"]
        if port["contract"] == "command":
            pins |= {f"{name}_{pin}": width for pin, width in _COMMAND.items()}
        elif port["contract"] == "memory":
            pins |= {f"{name}_{pin}": width for pin, width in _memory(port).items()}
        elif port["contract"] == "interrupt":
            pins[interrupt_pin(port)] = 1
    return pins


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
