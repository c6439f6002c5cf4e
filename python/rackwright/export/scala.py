"""Values as Scala writes them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any


def unit_value(unit: Mapping[str, Any]) -> str:
    """A `UnitSpec` for the result of `unit_specification`, over several lines."""
    fields = {
        **{name: literal(unit[name]) for name in ("name", "module")},
        "parameters": _call(
            "Map", [f"{literal(name)} -> {value}" for name, value in unit["parameters"].items()]
        ),
        **{name: literal(unit[name]) for name in ("clock", "reset", "resetHigh")},
        "idle": "None" if unit["idle"] is None else f"Some({literal(unit['idle'])})",
        "command": f"Some({literal(unit['command'])})",
        "translates": literal(unit["translates"]),
        "routes": _cases("RouteSpec", unit["routes"]),
        "memories": _cases("MemorySpec", unit["memories"]),
        **{name: _call("List", map(literal, unit[name])) for name in ("interrupts", "verilog")},
    }
    lines = ",\n".join(f"      {name} = {value}" for name, value in fields.items())
    return f"    UnitSpec(\n{lines}\n    )"


def literal(value: str | int | bool) -> str:
    """A text, number or truth value."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int):
        return str(value)
    escaped = value.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _cases(name: str, records: Sequence[Mapping[str, Any]]) -> str:
    """A list of case classes, with the fields of `records` in their order."""
    return _call(
        "List",
        [_call(name, [f"{key} = {literal(value)}" for key, value in each.items()]) for each in records],
    )


def _call(name: str, arguments: Any) -> str:
    return f"{name}({', '.join(arguments)})"
