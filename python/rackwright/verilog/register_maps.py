"""Register maps in SystemRDL: the registers of a manifest are read from one, and written as one."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rackwright.errors import MissingBuildError, RackwrightError
from rackwright.hardware.registers import Register, RegisterField, RegisterMap

if TYPE_CHECKING:
    from systemrdl.node import AddressableNode, AddrmapNode, FieldNode, RegNode

_KEYWORD = re.compile(
    r"abstract|accesstype|addressingtype|addrmap|alias|all|alternate|bit|boolean|bothedge|byte|compact|component"
    r"|componentwidth|constraint|default|encode|enum|external|false|field|fullalign|hw|inside|int|internal|level"
    r"|longint|mem|na|negedge|nonsticky|number|onreadtype|onwritetype|posedge|precedencetype|property|r|rclr|real|ref"
    r"|reg|regalign|regfile|rset|ruser|rw|rw1|shortint|shortreal|signal|signed|string|struct|sw|this|true|type"
    r"|unsigned|w|w1|wclr|with|within|woclr|woset|wot|wr|wset|wuser|wzc|wzs|wzt"
)
"""Words that a name must not be (SystemRDL 2.0, section 4.4); a backslash makes a name of one."""


def read_register_map(path: Path, register_bytes: int) -> list[dict[str, Any]]:
    """The registers of the last address map in a file, as the port of a manifest lists them.

    `register_bytes` is the width of the port's registers. Names of groups precede those of their registers.
    Raises `RackwrightError` for a file that does not compile, a memory, and a register that is wider.
    """
    top = _compiled(path)
    return [
        _row(node, name, register_bytes, path) for name, node in _registers(top, (), path, register_bytes)
    ]


def _compiled(path: Path) -> AddrmapNode:
    try:
        from systemrdl.compiler import RDLCompiler
        from systemrdl.messages import MessagePrinter, RDLCompileError, Severity
    except ImportError:
        raise MissingBuildError(
            "the compiler of SystemRDL, which reads register maps", f"./rw units scan --registers {path.name}"
        ) from None

    complaints: list[str] = []

    class Collector(MessagePrinter):
        """Keeps errors in place of printing them."""

        def print_message(self, severity: Severity, text: str, src_ref: Any) -> None:
            """Keeps an error with its line."""
            if severity >= Severity.ERROR:
                line = getattr(src_ref, "line", None)
                complaints.append(f"{path}{f':{line}' if line else ''}: {text}")

    if not path.is_file():
        raise RackwrightError(f"{path}: no such file")
    compiler = RDLCompiler(message_printer=Collector())
    try:
        compiler.compile_file(str(path))
        return compiler.elaborate().top
    except (RDLCompileError, UnicodeDecodeError) as error:
        more = f" (and {len(complaints) - 1} more)" if len(complaints) > 1 else ""
        said = f"{complaints[0]}{more}" if complaints else f"{path}: {error}"
        raise RackwrightError(said) from None


def _registers(
    group: AddressableNode, names: tuple[str, ...], path: Path, register_bytes: int
) -> Iterator[tuple[str, RegNode]]:
    """The registers of a group by name; an array of registers is one row, each group of an array its own."""
    from systemrdl.node import AddressableNode, MemNode, RegNode

    for child in group.children(unroll=False):
        if isinstance(child, MemNode):
            raise RackwrightError(
                f"{path}: {child.inst_name} is a memory, which a manifest does not describe"
            )
        if isinstance(child, RegNode) and len(child.array_dimensions or ()) < 2:
            yield "_".join((*names, child.inst_name)), child
        elif isinstance(child, AddressableNode):
            for each in child.unrolled():
                assert isinstance(each, AddressableNode)
                called = "_".join((each.inst_name, *map(str, each.current_idx or ())))
                if isinstance(each, RegNode):
                    yield "_".join((*names, called)), each
                else:
                    yield from _registers(each, (*names, called), path, register_bytes)


def _row(node: RegNode, name: str, register_bytes: int, path: Path) -> dict[str, Any]:
    width = node.get_property("regwidth")
    if width > register_bytes * 8:
        raise RackwrightError(f"{path}: {name} has {width} bits, registers of the port {register_bytes * 8}")
    row: dict[str, Any] = {"name": name, "offset": _offset(node)}
    if node.array_dimensions and _is_whole_array(node):
        row |= {"count": node.array_dimensions[0], "stride": node.array_stride}
    if not (node.has_sw_readable and node.has_sw_writable):
        row["access"] = "read" if node.has_sw_readable else "write"
    if width != register_bytes * 8:
        row["bits"] = width
    fields = list(node.fields())
    resets = [(field.get_property("reset"), field.low) for field in fields]
    # A reset may also be a signal or another field.
    if reset := sum(value << low for value, low in resets if isinstance(value, int)):
        row["reset"] = reset
    if meaning := _meaning(node):
        row["meaning"] = meaning
    if len(fields) == 1 and fields[0].get_property("counter"):
        row["counter"] = True
    if len(fields) > 1 or any(field.width != width for field in fields):
        row["fields"] = [_field(field) for field in fields]
    return row


def _is_whole_array(node: RegNode) -> bool:
    return node.is_array and node.current_idx is None


def _offset(node: RegNode) -> int:
    """The first byte of a register, or of the first of an array of them."""
    if _is_whole_array(node):
        return int(node.parent.absolute_address + node.raw_address_offset)
    return int(node.absolute_address)


def _field(field: FieldNode) -> dict[str, Any]:
    meaning = _meaning(field)
    return {
        "name": field.inst_name,
        "bit": field.low,
        "bits": field.width,
        **({"meaning": meaning} if meaning else {}),
    }


def _meaning(node: RegNode | FieldNode) -> str:
    """What the file says of a part: its description, or its name in words, in one line."""
    said = node.get_property("desc") or node.get_property("name", default="") or ""
    return " ".join(said.split())


def write_register_map(unit: str, registers: RegisterMap, register_bytes: int) -> str:
    """An address map in SystemRDL 2.0 with the registers of a unit, each `register_bytes` wide.

    Raises `RackwrightError` when there are none.
    """
    if not registers:
        raise RackwrightError(f"{unit}: its manifest names no registers")
    lines = [f"// The registers of {unit}, made of its manifest by `rw units --rdl`.", ""]
    lines += [f"addrmap {_name(unit.replace('-', '_'))} {{", f"    default regwidth = {8 * register_bytes};"]
    for register in registers.values():
        lines += ["", *(f"    {line}" for line in _written(register, register_bytes))]
    return "\n".join([*lines, "};", ""])


def _written(register: Register, register_bytes: int) -> Iterator[str]:
    fields = register.fields or (RegisterField("value", 0, register.bits or 8 * register_bytes),)
    sw, hw = {"read": ("r", "w"), "write": ("w", "r")}.get(register.access, ("rw", "rw"))
    yield "reg {"
    if register.meaning:
        yield f"    desc = {_text(register.meaning)};"
    for field in fields:
        counts = " counter;" if register.counter else ""
        desc = f" desc = {_text(field.meaning)};" if field.meaning else ""
        place = f"[{field.bit + field.bits - 1}:{field.bit}]"
        reset = f"{field.bits}'h{field.of(register.reset):x}"
        yield f"    field {{ sw = {sw}; hw = {hw};{counts}{desc} }} {_name(field.name)}{place} = {reset};"
    array = f"[{register.count}]" if register.count > 1 else ""
    step = f" += {register.stride:#x}" if register.count > 1 else ""
    yield f"}} {_name(register.name)}{array} @ {register.offset:#x}{step};"


def _name(name: str) -> str:
    return f"\\{name}" if _KEYWORD.fullmatch(name) else name


def _text(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
