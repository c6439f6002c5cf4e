"""The directions of the memory ports of a unit: a port in one direction needs half of a wrapper's logic."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from rackwright.hardware.manifests import is_elaborated

_ASSIGNED = re.compile(r"^  assign (\w+)_request_bits_write = 1'h([01]);$", re.MULTILINE)
"""The pin of a port that is constant, as elaboration writes it."""


def with_directions(manifest: Path, record: Mapping[str, Any]) -> dict[str, Any]:
    """The record of a manifest, in which each memory port has `reads` and `writes`.

    They follow from the constant pins of elaborated Verilog; ports in a user's own Verilog have both.
    """
    constant = dict(_constant_pins(manifest, record)) if is_elaborated(record) else {}
    return {**record, "ports": [_directed(port, constant.get(port["name"])) for port in record["ports"]]}


def _directed(port: Mapping[str, Any], writes: bool | None) -> dict[str, Any]:
    """A port whose pin `write` is constant, or not (None)."""
    if port["contract"] != "memory":
        return dict(port)
    return {**port, "reads": writes is not True, "writes": writes is not False}


def _constant_pins(manifest: Path, record: Mapping[str, Any]) -> Iterator[tuple[str, bool]]:
    for name in record["verilog"]:
        text = (manifest.parent / name).read_text(encoding="utf-8")
        top = re.search(rf"^module {record['top']}\(.*?^endmodule", text, re.MULTILINE | re.DOTALL)
        if top is not None:
            yield from ((port, value == "1") for port, value in _ASSIGNED.findall(top[0]))
