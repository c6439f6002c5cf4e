"""Mutants of Python modules, drawn by seed, and whether tests find them.

`python -m rackwright.testing.mutants SEED COUNT MODULE…` changes one expression of a module at a time, runs
those tests of `./rw test` that a change of it can affect, nearest first, and reports which one failed. A
mutant that no test finds is shown with its line, so that a reader can judge whether it changes what the
module does.
"""

from __future__ import annotations

import argparse
import ast
import random
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from bootstrap.paths import PYTHON
from rackwright.testing.imports import files_of_tests

_OPERATORS: dict[type[ast.AST], str] = {
    ast.Add: "-",
    ast.Sub: "+",
    ast.Mult: "//",
    ast.FloorDiv: "*",
    ast.Div: "*",
    ast.Lt: "<=",
    ast.LtE: "<",
    ast.Gt: ">=",
    ast.GtE: ">",
    ast.Eq: "!=",
    ast.NotEq: "==",
    ast.In: "not in",
    ast.NotIn: "in",
    ast.Is: "is not",
    ast.IsNot: "is",
}
"""What stands in place of an operator."""

_SECONDS = 3600.0
"""How long the tests of one mutant may take: one that runs for ever is found."""


@dataclass(frozen=True)
class Mutant:
    """`module` with the characters `start` to `end` of its text replaced by `text`."""

    module: Path
    line: int
    start: int
    end: int
    text: str

    def applied(self, source: str) -> str:
        """The mutated text of the module."""
        return source[: self.start] + self.text + source[self.end :]


def mutants(module: Path) -> Iterator[Mutant]:
    """Every mutant of a module: operators, comparisons, conditions and whole numbers."""
    source = module.read_text(encoding="utf-8")
    lines = [0]
    for line in source.splitlines(keepends=True):
        lines.append(lines[-1] + len(line.encode()))
    data = source.encode()

    def character(line: int, column: int) -> int:
        return len(data[: lines[line - 1] + column].decode())

    def of(node: ast.expr, text: str) -> Mutant:
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        start, end = character(node.lineno, node.col_offset), character(node.end_lineno, node.end_col_offset)
        return Mutant(module, node.lineno, start, end, text)

    def operation(node: ast.expr, left: ast.expr, operator: ast.AST, right: ast.expr) -> Mutant:
        operands = [ast.get_source_segment(source, each) for each in (left, right)]
        return of(node, f"(({operands[0]}) {_OPERATORS[type(operator)]} ({operands[1]}))")

    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
            yield operation(node, node.left, node.op, node.right)
        elif isinstance(node, ast.Compare) and len(node.ops) == 1 and type(node.ops[0]) in _OPERATORS:
            yield operation(node, node.left, node.ops[0], node.comparators[0])
        elif isinstance(node, ast.If | ast.IfExp | ast.While):
            yield of(node.test, f"(not ({ast.get_source_segment(source, node.test)}))")
        elif isinstance(node, ast.Constant) and type(node.value) is int:
            yield of(node, f"({ast.get_source_segment(source, node)} + 1)")


def nearest(module: Path) -> list[str]:
    """The files of tests that use the module, those that import the fewest files of ours first."""
    using = [each for each in files_of_tests() if module in each.sources]
    return [each.name for each in sorted(using, key=lambda each: (len(each.sources), each.name))]


def finder(mutant: Mutant, tests: list[str]) -> str | None:
    """The first test that fails with the mutant in place, or None; the module is as before afterwards."""
    source = mutant.module.read_text(encoding="utf-8")
    short = ("-m", "not long", "-p", "no:cacheprovider")
    command = [sys.executable, "-m", "pytest", "-q", "-x", *short, *tests]
    try:
        mutant.module.write_text(mutant.applied(source), encoding="utf-8")
        ended = subprocess.run(
            command, cwd=PYTHON, capture_output=True, text=True, check=False, timeout=_SECONDS
        )
    except subprocess.TimeoutExpired:
        return f"no end within {_SECONDS:.0f} s"
    finally:
        mutant.module.write_text(source, encoding="utf-8")
    failed = [line for line in ended.stdout.splitlines() if line.startswith(("FAILED", "ERROR"))]
    return None if ended.returncode == 0 else (failed[0] if failed else "the suite does not start")


def main() -> None:
    """Draws mutants, and says for each by which test it is found."""
    parser = argparse.ArgumentParser(prog="python -m rackwright.testing.mutants", description=__doc__)
    parser.add_argument("seed", type=int)
    parser.add_argument("count", type=int)
    parser.add_argument("modules", type=Path, nargs="+", help="modules, as seen from here")
    parser.add_argument("--tests", nargs="+", help="files of tests; without them, those that use the module")
    asked = parser.parse_args()
    every = [mutant for module in asked.modules for mutant in mutants(module.resolve())]
    found = 0
    for mutant in random.Random(asked.seed).sample(every, asked.count):
        test = finder(mutant, asked.tests or nearest(mutant.module))
        found += test is not None
        place = f"{mutant.module.relative_to(PYTHON)}:{mutant.line}"
        was = mutant.module.read_text(encoding="utf-8")[mutant.start : mutant.end]
        print(f"{place}: {was} -> {mutant.text}: {test or 'NOT FOUND'}", flush=True)
    print(f"{found} of {asked.count} found")


if __name__ == "__main__":
    main()
