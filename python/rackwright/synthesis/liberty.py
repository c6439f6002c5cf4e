"""Liberty files: the cells of a library, and the data that the mapper needs."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from rackwright.errors import RackwrightError
from rackwright.synthesis.functions import table_of

_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
_CELL = re.compile(r"^[ \t]*cell\s*\(\s*\"?(\w+)\"?\s*\)\s*\{", re.MULTILINE)
_PIN = re.compile(r"\bpin\s*\(\s*\"?(\w+)\"?\s*\)\s*\{")
_FUNCTION = re.compile(r"\bfunction\s*:\s*\"([^\"]*)\"")
_AREA = re.compile(r"^\s*area\s*:\s*([\d.eE+-]+)", re.MULTILINE)
_CAPACITANCE = re.compile(r"^\s*capacitance\s*:\s*([\d.eE+-]+)", re.MULTILINE)
_TIME_UNIT = re.compile(r"\btime_unit\s*:\s*\"?([\d.]+)\s*(ns|ps)\"?")
_THRESHOLD = re.compile(r"\b((?:slew|input|output)_\w*threshold_pct_\w+)\s*:\s*([\d.]+)")
_LOAD_UNIT = re.compile(r"capacitive_load_unit\s*\([^)]*\)")
_CLOCK_TREE = re.compile(r"CLK|clk")


@dataclass(frozen=True)
class Cell:
    """A cell: its area, its outputs, and the load of its inputs."""

    name: str
    text: str
    area: float
    functions: dict[str, str]
    capacitances: dict[str, float]

    @property
    def is_flop(self) -> bool:
        """Whether it is an edge-triggered flop without set or clear."""
        return bool(re.search(r"\bff\s*\(", self.text)) and not re.search(r"\b(clear|preset)\s*:", self.text)

    @property
    def is_positive_flop(self) -> bool:
        """A flop that takes its input at the rising edge."""
        clocked = re.search(r"clocked_on\s*:\s*\"\s*([^\"]*)\"", self.text)
        return self.is_flop and clocked is not None and "!" not in clocked[1] and "'" not in clocked[1]

    @property
    def is_gate(self) -> bool:
        """Whether a mapper can use it: one output, a function of its inputs, and not for clock trees."""
        stores = re.search(r"\b(ff|latch|three_state)\b", self.text)
        unwanted = re.search(r"dont_use\s*:\s*true", self.text) or _CLOCK_TREE.search(self.name)
        return len(self.functions) == 1 and not stores and not unwanted

    @cached_property
    def table(self) -> tuple[int, ...]:
        """The values of its output for every row of the inputs that its function names."""
        return table_of(next(iter(self.functions.values())))

    @property
    def inputs(self) -> list[str]:
        """Pins that load their driver."""
        return [name for name in self.capacitances if name not in self.functions]


@dataclass(frozen=True)
class Liberty:
    """The cells that synthesis uses, and the library's text with them alone."""

    name: str
    text: str
    cells: dict[str, Cell]
    time_nanoseconds: float

    def gates(self, table: tuple[int, ...]) -> list[Cell]:
        """The gates whose output has the values of `table`, smallest first."""
        found = [cell for cell in self.cells.values() if cell.is_gate and cell.table == table]
        return sorted(found, key=lambda cell: cell.area)

    @property
    def inverter(self) -> Cell:
        """The inverter that FO4 is measured with: of middle size, as the gates of a path are."""
        inverters = self.gates(_INVERTER)
        return inverters[(len(inverters) - 1) // 2]

    @cached_property
    def nand(self) -> Cell:
        """The smallest NAND of two inputs: the gate that equivalents are counted in."""
        return self.gates(_NAND)[0]

    @property
    def driver(self) -> Cell:
        """The assumed driver of a piece's inputs: the smallest buffer, or an inverter."""
        return next(iter(self.gates(_BUFFER)), self.inverter)

    @property
    def header(self) -> str:
        """The header of a library with the same units and thresholds."""
        settings = [f"{name} : {value};" for name, value in _THRESHOLD.findall(self.text)]
        unit = _TIME_UNIT.search(self.text)
        load = _LOAD_UNIT.search(self.text)
        settings += [f'time_unit : "{unit[1]}{unit[2]}";' if unit else "", f"{load[0]};" if load else ""]
        return "\n".join(["delay_model : table_lookup;", *settings])


_BUFFER, _INVERTER, _NAND = (0, 1), (1, 0), (1, 1, 1, 0)


def read_liberty(paths: Sequence[Path]) -> Liberty:
    """The cells of one or more Liberty files, as one library.

    Raises `RackwrightError`, one line, for a file that can't be read as Liberty, or when there is no flop
    for the rising edge, no NAND of two inputs or no inverter.
    """
    texts = [_text(path) for path in paths]
    base = texts[0]
    cells: dict[str, Cell] = {}
    for text in texts:
        cells |= {cell.name: cell for cell in _cells(text) if cell.is_gate or cell.is_positive_flop}
    what = ", ".join(map(str, paths))
    if not any(cell.is_flop for cell in cells.values()):
        raise RackwrightError(f"{what}: no flop for the rising edge, which synthesis needs")
    first = _CELL.search(base)
    assert first is not None
    body = "\n".join(cell.text for cell in cells.values())
    name = re.search(r"\blibrary\s*\(\s*\"?([\w.-]+)", base)
    unit = _TIME_UNIT.search(base)
    scale = float(unit[1]) * (1.0 if unit[2] == "ns" else 1e-3) if unit else 1.0
    liberty = Liberty(
        name[1] if name else paths[0].stem, f"{base[: first.start()]}{body}\n}}\n", cells, scale
    )
    for kind, table in (("NAND of two inputs", _NAND), ("inverter", _INVERTER)):
        if not liberty.gates(table):
            raise RackwrightError(f"{what}: no {kind}, which synthesis needs")
    return liberty


def _text(path: Path) -> str:
    try:
        text = _COMMENT.sub("", path.read_text(encoding="utf-8", errors="replace"))
    except OSError as error:
        raise RackwrightError(f"{path}: {error.strerror}") from error
    if not re.match(r"\s*library\s*\(", text) or _CELL.search(text) is None:
        raise RackwrightError(f"{path}: not a Liberty file with cells")
    return text


def _cells(text: str) -> list[Cell]:
    cells = []
    for match in _CELL.finditer(text):
        body = text[match.start() : _end_of_group(text, match.end())]
        pins = {pin[1]: body[pin.start() : _end_of_group(body, pin.end())] for pin in _PIN.finditer(body)}
        functions = {name: found[1] for name, pin in pins.items() if (found := _FUNCTION.search(pin))}
        loads = {name: float(found[1]) for name, pin in pins.items() if (found := _CAPACITANCE.search(pin))}
        area = _AREA.search(body)
        cells.append(Cell(match[1], body, float(area[1]) if area else 0.0, functions, loads))
    return cells


def _end_of_group(text: str, start: int) -> int:
    """The end of the group whose opening brace precedes `start`."""
    depth = 1
    for match in re.finditer(r"[{}]", text[start:]):
        depth += 1 if match[0] == "{" else -1
        if depth == 0:
            return start + match.end()
    raise RackwrightError("a Liberty file ends within a group")
