"""Ports that are interfaces of SystemVerilog: AXI as `axi_if.subordinate`, APB, AXI4-Stream.

The modport says in which direction each signal goes, so that a module around the design can give each a pin
with a name that buses are recognised by: `s_axi.awaddr` and `s_axi.aw_addr` become `s_axi_awaddr`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from pyslang import ast

from rackwright.errors import RackwrightError
from rackwright.verilog.buses import Pin
from rackwright.verilog.reader import VerilogDesign, VerilogSources

_AROUND = "rackwright_around"
"""The module around a design while it is read with other parameters of its interfaces."""

_CHANNEL = re.compile(r"(aw|ar|w|r|b)_(\w+)", re.IGNORECASE)


@dataclass(frozen=True)
class InterfacePort:
    """A port that is an interface: its pins by the name of the signal, as the design sees them.

    `parameters` are those of the interface that differ from its own. `inputs` are the interface's ports, such
    as its clock; `joined` says what each is connected to where that is not a pin.
    """

    name: str
    interface: str
    modport: str
    parameters: Mapping[str, str]
    signals: dict[str, Pin]
    inputs: dict[str, Pin]
    joined: dict[str, str]

    def pins(self) -> dict[str, Pin]:
        """Its signals as pins, and those of the interface's ports that are connected to nothing else."""
        own = {name: pin for name, pin in self.inputs.items() if name not in self.joined}
        return self.signals | own

    @property
    def body(self) -> list[str]:
        """The lines that connect the pins to an instance of the interface."""
        values = {name: self.joined.get(name, pin.name) for name, pin in self.inputs.items()}
        given = ", ".join(f".{name}({value})" for name, value in values.items())
        lines = [f"    {self.interface} {_given(self.parameters)}{self.name} ({given});"]
        for name, pin in self.signals.items():
            ends = (f"{self.name}.{name}", pin.name)
            target, source = ends if pin.is_input else ends[::-1]
            lines.append(f"    assign {target} = {source};")
        return lines

    @property
    def value(self) -> str:
        """What the design gets for the port."""
        return f"{self.name}.{self.modport}"


InterfaceParameters = Mapping[str, Mapping[str, str]]
"""Values of parameters of interfaces, by the name of the port and of the parameter."""


def interface_ports(
    top: ast.InstanceSymbol, parameters: InterfaceParameters, join: Callable[[str], str | None]
) -> list[InterfacePort]:
    """The ports of a module that are interfaces; `parameters` are the values with which it was read.

    `join` names what an input of an interface is connected to, such as the clock, or nothing for a pin of its
    own. Raises `RackwrightError` for a port whose signals have no directions, and for an array.
    """
    ports = _interfaces_of(top)
    return [_described(top, port, _stem(port, ports), parameters.get(port.name, {}), join) for port in ports]


def with_parameters(
    top: ast.InstanceSymbol,
    sources: VerilogSources,
    own: Mapping[str, str],
    parameters: InterfaceParameters,
) -> tuple[ast.InstanceSymbol, VerilogDesign]:
    """The module `top` as it is with these parameters of its interfaces, and `own` ones; and its design.

    Raises `RackwrightError` for a port or a parameter that there is not.
    """
    ports = {port.name: port for port in _interfaces_of(top)}
    for name, values in parameters.items():
        if name not in ports:
            raise RackwrightError(
                f"module {top.name} has no interface {name}; there are {', '.join(ports) or 'none'}"
            )
        _check(ports[name], values)
    around = [f"module {_AROUND};"]
    for name, port in ports.items():
        values = parameters.get(name, {})
        around.append(f"{port.interfaceDef.name} {_given(values)}{name} ();")
    connected = ", ".join(f".{name}({name}.{port.modport})" for name, port in ports.items() if port.modport)
    around += [f"{top.name} {_given(own)}{top.name} ({connected});", "endmodule"]
    with TemporaryDirectory() as folder:
        file = Path(folder) / f"{_AROUND}.sv"
        file.write_text("\n".join(around), encoding="utf-8")
        design = VerilogDesign(replace(sources, files=(*sources.files, file), top=_AROUND))
    found = next(
        each for each in design.tops[0].body if isinstance(each, ast.InstanceSymbol) and each.name == top.name
    )
    return found, design


def _check(port: ast.InterfacePortSymbol, values: Mapping[str, str]) -> None:
    instance = port.connection[0]
    if not isinstance(instance, ast.InstanceSymbol):
        return
    known = [
        each.name
        for each in instance.body.parameters
        if isinstance(each, ast.ParameterSymbol) and not each.isLocalParam
    ]
    for name in values:
        if name not in known:
            raise RackwrightError(
                f"interface {port.interfaceDef.name} of {port.name} has no parameter {name}; "
                f"there are {', '.join(known) or 'none'}"
            )


def _interfaces_of(top: ast.InstanceSymbol) -> list[ast.InterfacePortSymbol]:
    return [port for port in top.body.portList if isinstance(port, ast.InterfacePortSymbol)]


def _given(parameters: Mapping[str, str]) -> str:
    """Values of parameters as an instance has them."""
    given = ", ".join(f".{name}({value})" for name, value in parameters.items())
    return f"#({given}) " if given else ""


def _stem(port: ast.InterfacePortSymbol, ports: Sequence[ast.InterfacePortSymbol]) -> str:
    """What the pins of a port are called: `s_axil_wr` and `s_axil_rd` are the halves of a bus `s_axil`."""
    stem, half = port.name[:-3], port.name[-3:]
    others = {each.name: each.interfaceDef for each in ports}
    other = stem + {"_wr": "_rd", "_rd": "_wr"}.get(half, half)
    is_half = other != port.name and others.get(other) == port.interfaceDef and stem not in others
    return stem if is_half else port.name


def _described(
    top: ast.InstanceSymbol,
    port: ast.InterfacePortSymbol,
    stem: str,
    parameters: Mapping[str, str],
    join: Callable[[str], str | None],
) -> InterfacePort:
    instance, modport = port.connection
    place = f"module {top.name}: {port.name}"
    if port.isGeneric or not isinstance(instance, ast.InstanceSymbol | ast.InstanceArraySymbol):
        raise RackwrightError(
            f"{place} is an interface of any kind; connect it in a module around the design"
        )
    if isinstance(instance, ast.InstanceArraySymbol):
        raise RackwrightError(f"{place} is an array of interfaces; connect it in a module around the design")
    if modport is None:
        choices = ", ".join(each.name for each in instance.body if isinstance(each, ast.ModportSymbol))
        raise RackwrightError(
            f"{place} is an interface {port.interfaceDef.name} without a modport, which says directions"
            + (f"; there are {choices}" if choices else "")
        )
    inputs = {
        each.name: Pin(f"{stem}_{each.name}", True, each.type.bitWidth)
        for each in instance.body.portList
        if isinstance(each, ast.PortSymbol) and each.direction == ast.ArgumentDirection.In
    }
    signals = {}
    for each in modport:
        if not isinstance(each, ast.ModportPortSymbol) or each.name in inputs:
            continue
        ways = (ast.ArgumentDirection.In, ast.ArgumentDirection.Out)
        if each.direction not in ways or not each.type.isIntegral:
            raise RackwrightError(
                f"{place}.{each.name} goes both ways or is an array; connect the interface in a module "
                "around the design"
            )
        # Signals of AXI's channels are often written with an underscore.
        signal = _CHANNEL.sub(r"\1\2", each.name)
        is_input = each.direction == ast.ArgumentDirection.In
        signals[each.name] = Pin(f"{stem}_{signal}", is_input, each.type.bitWidth)
    joined = {name: end for name in inputs if (end := join(name)) is not None}
    interface = port.interfaceDef.name
    return InterfacePort(port.name, interface, modport.name, parameters, signals, inputs, joined)
