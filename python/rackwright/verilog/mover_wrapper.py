"""The Verilog of a module that contains a user's unit and the mover for its streams."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from pyslang import ast

from rackwright.errors import RackwrightError
from rackwright.hardware.designs import ParameterValue
from rackwright.hardware.manifests import interrupt_pin, main_clock
from rackwright.verilog.moved import PAGE_BITS, REGISTER_PORT, RESET, lost_event
from rackwright.verilog.parameters import written_of
from rackwright.verilog.reader import VerilogDesign, VerilogSources


class TopPin(NamedTuple):
    """A pin of the unit: whether it is an input, and its bits."""

    name: str
    is_input: bool
    bits: int

    @property
    def range(self) -> str:
        """Its bits as a declaration has them."""
        return f"[{self.bits - 1}:0]"


def top_pins(manifest: Path, parameters: Mapping[str, ParameterValue]) -> list[TopPin]:
    """The pins of the top module of a manifest, whose widths may depend on `parameters`.

    Raises `RackwrightError` for sources without that module.
    """
    sources = VerilogSources.of_manifest(manifest)
    design = VerilogDesign(sources, written_of(sources, parameters))
    top = next((each for each in design.tops if each.name == sources.top), None)
    if top is None:
        raise RackwrightError(f"{manifest}: the sources have no module {sources.top}")
    pins = []
    for port in top.body.portList:
        if isinstance(port, ast.PortSymbol) and port.type.isIntegral:
            is_input = port.direction == ast.ArgumentDirection.In
            pins.append(TopPin(port.name, is_input, port.type.bitWidth))
    return pins


def wrapper(
    record: Mapping[str, Any],
    parameters: Mapping[str, ParameterValue],
    pins: Sequence[TopPin],
    mover: str,
    mover_ports: Sequence[Mapping[str, Any]],
) -> str:
    """The module `<top>_moved`, which connects a unit to the module `mover`.

    `record` is the manifest of the unit, `parameters` are those of its top module, and `mover_ports` those of
    the manifest of the mover.
    """
    return _Wrapper(record, parameters, {pin.name: pin for pin in pins}, mover, mover_ports).text()


class _Wrapper:
    def __init__(
        self,
        record: Mapping[str, Any],
        parameters: Mapping[str, ParameterValue],
        pins: Mapping[str, TopPin],
        mover: str,
        mover_ports: Sequence[Mapping[str, Any]],
    ) -> None:
        self._record, self._parameters, self._pins, self._mover = record, parameters, pins, mover
        ports = record["ports"]
        self._streams = [port for port in ports if port["contract"] == "axi4-stream"]
        self._lite = next((port for port in ports if port["contract"] == "axi4-lite"), None)
        self._memory = [port for port in mover_ports if port["contract"] == "memory"]
        self._line = next((port for port in ports if port["contract"] == "interrupt"), None)
        self._declared: list[str] = []
        self._body: list[str] = []
        self._unit: dict[str, str] = {}
        self._around: dict[str, str] = {}

    def text(self) -> str:
        """All of it."""
        self._control()
        self._registers()
        for port in self._streams:
            self._stream(port)
        for port in self._memory:
            for signal, is_input, bits in _memory_pins(port):
                self._pass(f"{port['name']}_{signal}", is_input, bits)
        for pin in self._pins.values():
            if pin.name not in self._unit:
                self._declare(pin.name, pin.is_input, pin.bits)
                self._unit[pin.name] = pin.name
        top = self._record["top"]
        return "\n".join(
            [
                f"// Written by the product: {self._record['unit']} and a mover for its streams.",
                f"module {top}_moved (",
                ",\n".join(f"    {each}" for each in self._declared),
                ");",
                *(f"    {line}" for line in self._body),
                *_instance(top, "unit", self._unit, self._parameters),
                *_instance(self._mover, "mover", self._around, {}),
                "endmodule\n",
            ]
        )

    def _control(self) -> None:
        """Clock, reset, idle output and interrupt line."""
        clock = main_clock(self._record)
        self._around["clock"] = clock["pin"]
        reset = clock["reset"]
        if reset is None:
            self._declare(RESET, True, 1)
        self._around["reset"] = f"~{reset}" if clock.get("active") == "low" else reset or RESET
        self._body += ["wire mover_idle, mover_interrupt;"]
        self._around |= {"idle": "mover_idle", "interrupt_mover": "mover_interrupt"}
        if idle := self._record.get("idle"):
            self._join(idle, "&", "mover_idle")
        if self._line is None:
            self._declare("interrupt_mover", False, 1)
            self._body.append("assign interrupt_mover = mover_interrupt;")
        else:
            self._join(interrupt_pin(self._line), "|", "mover_interrupt")

    def _join(self, output: str, operator: str, other: str) -> None:
        """An output of the unit that leaves together with one of the mover."""
        self._declare(output, False, 1)
        self._body += [f"wire unit_{output};", f"assign {output} = unit_{output} {operator} {other};"]
        self._unit[output] = f"unit_{output}"

    def _registers(self) -> None:
        """The register port, and that of the unit behind it."""
        port = self._lite or REGISTER_PORT
        for signal, (is_input, bits) in _lite_signals(port).items():
            outer, mover = _amba(port, signal), _elaborated(signal)
            self._declare(outer, is_input, bits)
            self._around[f"outer_{mover}"] = outer
            if self._lite is None:
                self._around[f"inner_{mover}"] = _zeros(bits) if not is_input else ""
                continue
            wire = f"inner_{signal}"
            self._body.append(f"wire [{bits - 1}:0] {wire};")
            self._around[f"inner_{mover}"] = wire
            is_address = signal in ("awaddr", "araddr")
            self._unit[outer] = _resized(wire, PAGE_BITS, self._pins[outer].bits) if is_address else wire

    def _stream(self, port: Mapping[str, Any]) -> None:
        """The pins of a stream, all of which end at the mover."""
        name, size, is_input = port["name"], port["bytes"], port["direction"] == "in"
        bits = {"valid": 1, "ready": 1, "data": 8 * size, "keep": size, "last": 1}
        for signal, width in bits.items():
            self._body.append(f"wire [{width - 1}:0] {name}_stream_{signal};")
            mover = signal if width == 1 and signal != "last" and signal != "keep" else f"bits_{signal}"
            self._around[f"{name}_stream_{mover}"] = f"{name}_stream_{signal}"
        waits = port.get("ready", True)
        there = {"keep": port.get("keep"), "last": port.get("last"), "ready": waits}
        for signal, width in bits.items():
            pin = _amba(port, f"t{signal}")
            if there.get(signal, True):
                self._unit[pin] = f"{name}_stream_{signal}"
            elif is_input == (signal == "ready"):
                # What the unit would give: it takes each transfer, all bytes of one count, and no frame ends.
                value = "1'b0" if signal == "last" else f"{{{width}{{1'b1}}}}"
                self._body.append(f"assign {name}_stream_{signal} = {value};")
        if not is_input and waits:
            self._body += _stable(name, main_clock(self._record)["pin"], self._around["reset"])
        elif not is_input:
            self._declare(f"event_{lost_event(port)}", False, 1)
            lost = f"{name}_stream_valid & ~{name}_stream_ready"
            self._body.append(f"assign event_{lost_event(port)} = {lost};")
        if port.get("strobes"):
            self._unit[_amba(port, "tstrb")] = f"{name}_stream_keep" if is_input else ""

    def _pass(self, name: str, is_input: bool, bits: int) -> None:
        """A pin of the mover that is one of the whole."""
        self._declare(name, is_input, bits)
        self._around[name] = name

    def _declare(self, name: str, is_input: bool, bits: int) -> None:
        self._declared.append(f"{'input ' if is_input else 'output'} wire [{bits - 1}:0] {name}")


def _stable(name: str, clock: str, reset: str) -> list[str]:
    """An assertion: what a unit offers on a stream stays until it is taken (IHI 0051, section 2.2.1)."""
    offered = ", ".join(f"{name}_stream_{signal}" for signal in ("valid", "last", "keep", "data"))
    return [
        "`ifndef SYNTHESIS",
        f"reg {name}_waits = 1'b0;",
        f"reg [$bits({{{offered}}})-1:0] {name}_offered;",
        f"always @(posedge {clock}) begin",
        f"    {name}_waits <= {name}_stream_valid & ~{name}_stream_ready & ~({reset});",
        f"    {name}_offered <= {{{offered}}};",
        f"    if ({name}_waits && {name}_offered != {{{offered}}})",
        f'        $error("{name}: TVALID or what goes with it changed before TREADY");',
        "end",
        "`endif",
    ]


def _instance(
    module: str, name: str, pins: Mapping[str, str], parameters: Mapping[str, ParameterValue]
) -> Iterator[str]:
    given = ", ".join(f".{key}({_literal(value)})" for key, value in parameters.items())
    yield f"    {module} {f'#({given}) ' if given else ''}{name} ("
    yield ",\n".join(f"        .{pin}({wire})" for pin, wire in pins.items())
    yield "    );"


def _literal(value: ParameterValue) -> str:
    """A value of a parameter in Verilog: a literal like 8'hff is unchanged, other words are texts."""
    if isinstance(value, str):
        return value if re.fullmatch(r"\d*'s?[bodhBODH][0-9a-fA-FxzXZ_]+", value) else f'"{value}"'
    return str(value) if -(2**31) <= value < 2**31 else f"{'-' if value < 0 else ''}64'sd{abs(value)}"


def _lite_signals(port: Mapping[str, Any]) -> dict[str, tuple[bool, int]]:
    """The signals of AXI4-Lite at a subordinate: whether they are inputs, and their bits."""
    size = port["bytes"]
    inputs = {"awaddr": PAGE_BITS, "awvalid": 1, "wdata": 8 * size, "wstrb": size, "wvalid": 1, "bready": 1}
    inputs |= {"araddr": PAGE_BITS, "arvalid": 1, "rready": 1}
    outputs = {"awready": 1, "wready": 1, "bresp": 2, "bvalid": 1, "arready": 1, "rdata": 8 * size}
    outputs |= {"rresp": 2, "rvalid": 1}
    return {
        **{signal: (True, bits) for signal, bits in inputs.items()},
        **{signal: (False, bits) for signal, bits in outputs.items()},
    }


_CHANNEL = re.compile(r"(aw|ar|w|r|b)(\w+)")


def _elaborated(signal: str) -> str:
    """The name of a signal of AXI4-Lite in elaborated Verilog (`mover/LitePort.scala`)."""
    match = _CHANNEL.fullmatch(signal)
    assert match is not None
    channel, word = match.groups()
    if word in ("valid", "ready"):
        return f"{channel}_{word}"
    return f"{channel}_bits" if channel in ("aw", "ar", "b") else f"{channel}_bits_{word}"


def _amba(port: Mapping[str, Any], signal: str) -> str:
    """The pin of a signal of AMBA."""
    return f"{port['name']}_{signal.upper() if port['naming'] == 'upper' else signal}"


def _memory_pins(port: Mapping[str, Any]) -> Iterator[tuple[str, bool, int]]:
    """The pins of a memory port, after its name: whether they are inputs, and their bits."""
    size, tag = port["bytes"], port["tag_bits"]
    outputs = {"valid": 1, "bits_address": port["address_bits"], "bits_write": 1, "bits_data": 8 * size}
    outputs |= {"bits_mask": size, "bits_tag": tag}
    yield "request_ready", True, 1
    yield from ((f"request_{name}", False, bits) for name, bits in outputs.items())
    yield "response_ready", False, 1
    inputs = {"valid": 1, "bits_tag": tag, "bits_data": 8 * size, "bits_fault": 1}
    yield from ((f"response_{name}", True, bits) for name, bits in inputs.items())


def _zeros(bits: int) -> str:
    return f"{bits}'b0"


def _resized(wire: str, bits: int, wanted: int) -> str:
    """The lower bits of a wire, or all of them with zeros above."""
    if wanted <= bits:
        return f"{wire}[{wanted - 1}:0]"
    return f"{{{_zeros(wanted - bits)}, {wire}}}"
