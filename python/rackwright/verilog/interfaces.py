"""Ports that are interfaces of SystemVerilog: AXI as `axi_if.subordinate`, APB, AXI4-Stream.

The modport says in which direction each signal goes, so that a module around the design can give each a pin
with a name that buses are recognised by: `s_axi.awaddr` and `s_axi.aw_addr` become `s_axi_awaddr`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field

from pyslang import ast

from rackwright.errors import RackwrightError
from rackwright.verilog.buses import Pin

_CHANNEL = re.compile(r"(aw|ar|w|r|b)_(\w+)", re.IGNORECASE)


@dataclass(frozen=True)
class InterfacePort:
    """A port that is an interface: its pins by the name of the signal, as the design sees them.

    `inputs` are the interface's own ports, such as its clock; `joined` says what each is connected to where
    that is not a pin.
    """

    name: str
    interface: str
    modport: str
    signals: dict[str, Pin]
    inputs: dict[str, Pin]
    joined: dict[str, str] = field(default_factory=dict)

    def pins(self) -> dict[str, Pin]:
        """Its signals as pins, and those of the interface's ports that are connected to nothing else."""
        own = {name: pin for name, pin in self.inputs.items() if name not in self.joined}
        return self.signals | own

    @property
    def body(self) -> list[str]:
        """The lines that connect the pins to an instance of the interface."""
        values = {name: self.joined.get(name, pin.name) for name, pin in self.inputs.items()}
        given = ", ".join(f".{name}({value})" for name, value in values.items())
        lines = [f"    {self.interface} {self.name} ({given});"]
        for name, pin in self.signals.items():
            ends = (f"{self.name}.{name}", pin.name)
            target, source = ends if pin.is_input else ends[::-1]
            lines.append(f"    assign {target} = {source};")
        return lines

    @property
    def value(self) -> str:
        """What the design gets for the port."""
        return f"{self.name}.{self.modport}"


def interface_ports(top: ast.InstanceSymbol, join: Callable[[str], str | None]) -> list[InterfacePort]:
    """The ports of a module that are interfaces, with the parameters that these have by themselves.

    `join` names what an input of an interface is connected to, such as the clock, or nothing for a pin of its
    own. Raises `RackwrightError` for a port whose signals have no directions, and for an array.
    """
    return [
        _described(top, port, join) for port in top.body.portList if isinstance(port, ast.InterfacePortSymbol)
    ]


def _described(
    top: ast.InstanceSymbol, port: ast.InterfacePortSymbol, join: Callable[[str], str | None]
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
        each.name: Pin(f"{port.name}_{each.name}", True, each.type.bitWidth)
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
        signals[each.name] = Pin(f"{port.name}_{signal}", is_input, each.type.bitWidth)
    joined = {name: end for name in inputs if (end := join(name)) is not None}
    return InterfacePort(port.name, port.interfaceDef.name, modport.name, signals, inputs, joined)
