"""What yosys mapped is written as Verilog with the names of the source."""

from __future__ import annotations

from typing import Any

from rackwright.synthesis.gates import netlist_verilog


def _net(bits: list[int | str], hidden: bool = False) -> dict[str, Any]:
    return {"bits": bits, "hide_name": int(hidden)}


def _cell(kind: str, hidden: bool = True, **connections: list[int | str]) -> dict[str, Any]:
    return {"type": kind, "hide_name": int(hidden), "connections": connections}


def _written(ports: dict[str, Any], cells: dict[str, Any], nets: dict[str, Any]) -> list[str]:
    named = {name: _net(port["bits"]) for name, port in ports.items()}
    module = {"ports": ports, "cells": cells, "netnames": named | nets}
    return netlist_verilog("Probe", module).splitlines()


def test_pins_are_nets_of_the_source_and_those_that_mapping_made() -> None:
    ports = {
        "a": {"direction": "input", "bits": [2, 3]},
        "y": {"direction": "output", "bits": [5]},
    }
    cells = {
        "$abc$1": _cell("NAND2X1", A=[2], B=[3], Y=[4]),
        "keeper.flop": _cell("DFFPOSX1", hidden=False, D=[4], Q=[5]),
    }
    lines = _written(ports, cells, {"$abc$n4": _net([4], hidden=True)})
    assert lines == [
        "module Probe(a, y);",
        "  input [1:0] a;",
        "  output y;",
        "  wire _000001_;",
        "  NAND2X1 _000000_ (",
        "    .A(a[0]),",
        "    .B(a[1]),",
        "    .Y(_000001_)",
        "  );",
        "  DFFPOSX1 \\keeper.flop  (",
        "    .D(_000001_),",
        "    .Q(y)",
        "  );",
        "endmodule",
    ]


def test_the_register_of_a_read_port_is_called_after_its_memory() -> None:
    flop = _cell("DFFPOSX1", D=["1"], Q=[3])
    hidden = {r"$\queue.ram.Memory$rdreg[0]$q": _net([2, 3], hidden=True), "$abc$n1": _net([2], hidden=True)}
    lines = _written({}, {"$auto$1": flop}, hidden)
    assert "  wire [1:0] \\queue.ram.Memory.read0 ;" in lines
    assert "    .Q(\\queue.ram.Memory.read0 [1])" in lines


def test_an_output_that_is_something_else_is_assigned_in_runs() -> None:
    ports = {
        "a": {"direction": "input", "bits": [2, 3, 4]},
        "y": {"direction": "output", "bits": [3, 4, "1", 2]},
    }
    lines = _written(ports, {}, {})
    assert lines[-2] == "  assign y[3:0] = { a[0], 1'h1, a[2:1] };"


def test_a_bit_with_several_names_has_an_inputs_before_an_inner_ones() -> None:
    ports = {
        "a": {"direction": "input", "bits": [2, 3]},
        "y": {"direction": "output", "bits": [3]},
    }
    cells = {"box": _cell("Box", hidden=False, io=[2, 3], part=[3, "0"])}
    lines = _written(ports, cells, {"part.of": _net([9, 3])})
    assert "  wire [1:0] \\part.of ;" in lines
    assert "  assign \\part.of [1:1] = a[1];" in lines
    assert "    .io(a)," in lines
    assert "    .part({ 1'h0, a[1] })" in lines
    assert "  assign y = a[1];" in lines


def test_a_pin_without_a_net_is_open() -> None:
    box = _cell("Box", hidden=False, io=[])
    assert "    .io()" in _written({}, {"box": box}, {})
