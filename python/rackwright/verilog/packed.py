"""Buses whose signals are fields of packed structures: TileLink as OpenTitan, AXI as PULP writes it.

Such a bus has two ports, of which one is a structure of what the requester gives, and the other one of what
it gets: `tl_i` and `tl_o` with `a_valid` and `d_valid`, `axi_req_o` and `axi_resp_i` with `aw.addr` and
`aw_ready`. Each field becomes a pin of a module around the design, with a name that buses are recognised by.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from pyslang import ast

from rackwright.verilog.buses import Bus, Pin
from rackwright.verilog.interfaces import InterfacePort
from rackwright.verilog.parameters import defaults_of

SUFFIX = "_pins"
"""What the module around a design is called after the design's name."""

_ENDING = re.compile(r"(^|_)(i|o|in|out|req|request|resp|rsp|response|h2d|d2h|m2s|s2m)$", re.IGNORECASE)
_AXI = re.compile(r"(aw|ar|w|r|b)_(\w+)")

_INTEGRITY = "tlul_cmd_intg_gen"
"""OpenTitan's module that adds the check bits of a request."""

_INSTRUCTION_TYPE = "a_user_instr_type"
_DATA = "4'h9"
"""Of OpenTitan's requests: that it is for data (`MuBi4False`)."""


@dataclass(frozen=True)
class PackedPort:
    """A port that is a packed structure: its fields, the first one in the upper bits, and their bits."""

    name: str
    is_input: bool
    fields: tuple[tuple[str, int], ...]

    @property
    def stem(self) -> str:
        """What both ports of a bus are called."""
        name = self.name
        while (shorter := _ENDING.sub("", name)) != name:
            name = shorter
        return name or "bus"

    def pins(self) -> dict[str, Pin]:
        """Its fields as pins, by the field."""
        return {
            field: Pin(f"{self.stem}_{_signal(field)}", self.is_input, bits) for field, bits in self.fields
        }


def packed_ports(top: ast.InstanceSymbol) -> list[PackedPort]:
    """The ports of a module that are packed structures."""
    return [
        PackedPort(
            port.name,
            port.direction == ast.ArgumentDirection.In,
            tuple(_fields("", port.type.canonicalType)),
        )
        for port in top.body.portList
        if isinstance(port, ast.PortSymbol) and isinstance(port.type.canonicalType, ast.PackedStructType)
    ]


def _fields(prefix: str, kind: ast.PackedStructType) -> Iterator[tuple[str, int]]:
    for member in kind:
        if not isinstance(member, ast.FieldSymbol):
            continue
        inner = member.type.canonicalType
        if isinstance(inner, ast.PackedStructType):
            yield from _fields(f"{prefix}{member.name}_", inner)
        else:
            yield f"{prefix}{member.name}", inner.bitWidth


def _signal(field: str) -> str:
    """The name that the signal of a field has at the end of a pin."""
    if field == "d_error":
        return "d_denied"
    match = _AXI.fullmatch(field)
    # TileLink has channels a and d; those of AXI are written without an underscore.
    return "".join(match.groups()) if match is not None else field


def unpacked(pins: Mapping[str, Pin], ports: Sequence[PackedPort]) -> dict[str, Pin]:
    """Pins with the fields of structures in the place of their ports."""
    by_name = {port.name: port for port in ports}
    found: dict[str, Pin] = {}
    for name, pin in pins.items():
        if name in by_name:
            found |= {each.name: each for each in by_name[name].pins().values()}
        else:
            found[name] = pin
    return found


def of_buses(ports: Sequence[PackedPort], buses: Sequence[Bus]) -> list[PackedPort]:
    """The ports of which a field belongs to a bus, also to one that cannot be attached as it is."""
    known = {name for bus in buses for name in bus.pins}
    return [port for port in ports if known & {pin.name for pin in port.pins().values()}]


def module_with_pins(
    top: ast.InstanceSymbol,
    pins: Mapping[str, Pin],
    ports: Sequence[PackedPort],
    interfaces: Sequence[InterfacePort],
    modules: set[str],
) -> str:
    """The text of the module around a design with `ports` that are structures, and with interfaces.

    Its other pins are `pins`. It has the parameters of the design. Requests with OpenTitan's check bits get
    them from that project's module, if it is one of `modules`.
    """
    declared = [_declared(pin) for pin in pins.values()]
    given = {name: name for name in pins}
    body: list[str] = []
    for port in ports:
        fields = port.pins()
        declared += [_declared(pin) for pin in fields.values()]
        values = {field: pin.name for field, pin in fields.items()}
        if port.is_input and _INSTRUCTION_TYPE in values:
            values[_INSTRUCTION_TYPE] = _DATA
        together = f"{{{', '.join(values.values())}}}"
        if port.is_input and _has_check_bits(port) and _INTEGRITY in modules:
            wire = f"{port.stem}_checked"
            body.append(f"    wire [{sum(bits for _, bits in port.fields) - 1}:0] {wire};")
            body.append(f"    {_INTEGRITY} {port.stem}_check (.tl_i({together}), .tl_o({wire}));")
            together = wire
        given[port.name] = together
    for interface in interfaces:
        declared += [_declared(pin) for pin in interface.pins().values()]
        body += interface.body
        given[interface.name] = interface.value
    defaults = defaults_of(top)
    parameters = ", ".join(f"parameter {name} = {value}" for name, value in defaults.items())
    passed = ", ".join(f".{name}({name})" for name in defaults)
    return "\n".join(
        [
            f"// Written by `rw units scan`: {top.name} with pins in the place of structures and interfaces.",
            f"module {top.name}{SUFFIX} {f'#({parameters}) ' if parameters else ''}(",
            ",\n".join(f"    {each}" for each in declared),
            ");",
            *body,
            f"    {top.name} {f'#({passed}) ' if passed else ''}unit (",
            ",\n".join(f"        .{port}({value})" for port, value in given.items()),
            "    );",
            "endmodule\n",
        ]
    )


def _declared(pin: Pin) -> str:
    width = f"[{pin.bits - 1}:0] " if pin.bits != 1 else ""
    return f"{'input ' if pin.is_input else 'output'} wire {width}{pin.name}"


def _has_check_bits(port: PackedPort) -> bool:
    return any(field == "a_user_cmd_intg" for field, _ in port.fields)


def missing_check_bits(ports: Sequence[PackedPort], modules: set[str]) -> list[str]:
    """Remarks on ports whose requests need check bits that no module of the design makes."""
    if _INTEGRITY in modules:
        return []
    return [
        f"{port.name}: check bits of requests stay 0, as {_INTEGRITY} is in none of the files"
        for port in ports
        if port.is_input and _has_check_bits(port)
    ]
