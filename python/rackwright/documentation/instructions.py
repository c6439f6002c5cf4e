"""The pages about the instructions of `drx`: encodings from its table, texts from `instructions.toml`."""

from __future__ import annotations

import textwrap
import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from rackwright.drx.isa import Field, Function, isa

TEXTS = Path(__file__).with_name("instructions.toml")

CONTRACT = "../hardware/src/main/scala/rackwright/drx/README.md#instructions"

SOURCES = ("first", "second")


@dataclass(frozen=True)
class Case:
    """Elements of an instruction: types of destination and sources, sources, destination before and after."""

    types: tuple[str, ...]
    sources: tuple[tuple[float, ...], ...]
    before: tuple[float, ...] | None
    result: tuple[float, ...]


@dataclass(frozen=True)
class Text:
    """What an instruction does, when it is refused, and a program or elements that show it."""

    effect: str
    detail: str
    refused: str
    example: str
    cases: tuple[Case, ...]


@cache
def texts() -> dict[str, Text]:
    """The text of every instruction, by its name."""
    return {name: _text(row) for name, row in tomllib.loads(TEXTS.read_text(encoding="utf-8")).items()}


def _text(row: dict[str, Any]) -> Text:
    cases = tuple(
        Case(
            tuple(case["types"]),
            tuple(tuple(case[source]) for source in SOURCES if source in case),
            tuple(case["before"]) if "before" in case else None,
            tuple(case["result"]),
        )
        for case in row.get("cases", ())
    )
    return Text(
        row["effect"],
        row["detail"].strip(),
        " ".join(row.get("refused", "").split()),
        row.get("example", "").strip(),
        cases,
    )


def pages() -> dict[str, str]:
    """The text of each page by its path below docs/: an index, and a page for every instruction."""
    functions = isa().functions.values()
    found = {"instructions.md": _index(list(functions))}
    return found | {f"instructions/{each.name}.md": _page(each, texts()[each.name]) for each in functions}


def _index(functions: list[Function]) -> str:
    rows = [
        f"| {each.operation} | [`{each.name}`](instructions/{each.name}.md) | {texts()[each.name].effect} |"
        for each in functions
    ]
    return "\n".join(
        [
            "# Instructions of the restructuring unit",
            "",
            "Programs of [`drx`](restructuring.md) have instructions of 32 bits: 2 for the operation, 4 for",
            "the function, 26 for the rest. Those that compute name three address calculators in place of",
            f"addresses; the [contract]({CONTRACT}) describes vectors, types and the order of transfers.",
            "`./rw drx asm` and `disasm` convert programs, and `./rw drx compile KERNEL.py --emit asm` shows",
            "those of the compiler.",
            "",
            "| operation | instruction | effect |",
            "| --- | --- | --- |",
            *rows,
            "",
            "```{toctree}",
            ":hidden:",
            ":glob:",
            "",
            "instructions/*",
            "```",
            "",
        ]
    )


def _page(function: Function, text: Text) -> str:
    parts = [
        f"# `{function.name}`",
        text.effect,
        _encoding(function),
        text.detail,
        *([_refusals(text)] if text.refused else []),
        *([f"```text\n{text.example}\n```"] if text.example else []),
        *map(_elements, text.cases),
        "[All instructions](../instructions.md)",
    ]
    return "\n\n".join(parts) + "\n"


def _refusals(text: Text) -> str:
    return textwrap.fill(f"The program ends as `malformed` if {text.refused}.", 118)


def _encoding(function: Function) -> str:
    """A table of the bits of the instruction, the highest first, and the line of assembly."""
    operation, own = isa().heads
    fields = sorted(function.fields, key=lambda field: -field.low)
    columns = [
        (_bits(operation), f"{operation.of(function.opcode)}"),
        (_bits(own), f"{own.of(function.opcode)}"),
    ]
    above = own.low
    for each in fields:
        columns += _unused(each.low + each.bits, above)
        columns.append((_bits(each), f"`{each.name}`{', signed' if each.signed else ''}"))
        above = each.low
    columns += _unused(0, above)
    heads, values = zip(*columns, strict=True)
    rows = [heads, ["---"] * len(heads), values]
    table = "\n".join(f"| {' | '.join(row)} |" for row in rows)
    names = " ".join(f"{each.name}=…" for each in function.fields)
    return f"{table}\n\n    {function.name} {names}".rstrip()


def _unused(low: int, above: int) -> list[tuple[str, str]]:
    """The column of the bits from `low` to the one below `above`, if there are any."""
    return [(_span(low, above - low), "0")] if low < above else []


def _bits(field: Field) -> str:
    return _span(field.low, field.bits)


def _span(low: int, bits: int) -> str:
    return f"{low}" if bits == 1 else f"{low + bits - 1} to {low}"


def _elements(case: Case) -> str:
    """A table of elements: sources, the destination before if it matters, and after."""
    sources = zip(SOURCES, case.types[1:], case.sources, strict=False)
    columns = [(f"{name}, `{element}`", numbers) for name, element, numbers in sources]
    if case.before is not None:
        columns.append((f"destination before, `{case.types[0]}`", case.before))
    columns.append((f"destination, `{case.types[0]}`", case.result))
    rows = [[title for title, _ in columns], ["---"] * len(columns)]
    rows += [
        [f"{number:,}" for number in row] for row in zip(*(numbers for _, numbers in columns), strict=True)
    ]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)
