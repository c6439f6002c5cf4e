"""Writes what the front end of synthesis does not take in words that it takes, of the same meaning in gates.

A non-blocking assignment in `initial` becomes a blocking one. Delays of statements and assignments, which
gates do not have, are left out. A `case` that says that it is full gets a default in which what it assigns
has any value, as synthesis understands it; simulation keeps what there was.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pyslang import syntax

from rackwright.verilog.reader import VerilogDesign

_FULL = re.compile(r"\bfull_case\b")
_FULL_COMMENT = re.compile(r"(//|/\*)\s*(synopsys|synthesis)\b[^\n]*\bfull_case\b")
_EDGE = re.compile(r"\b(pos|neg)edge\b")

_Change = tuple[int, int, str]
"""From where to where in a file, and what is written there."""


def rewritten(design: VerilogDesign) -> dict[Path, str]:
    """Texts of those files of a design that synthesis reads in other words, by their paths."""
    changes: defaultdict[Path, list[_Change]] = defaultdict(list)
    sources = {file.resolve(): file.resolve().read_bytes() for file in design.files if file.is_file()}
    for tree, place in design.trees:
        nodes: list[Any] = []
        tree.visit(nodes.append)
        for node in nodes:
            if not isinstance(node, syntax.SyntaxNode):
                continue
            path = place(node)
            if path in sources:
                changes[path] += _changes(node, sources[path])
            elif _is_delay(node) and (use := design.macro_use(node)) and use[0] in sources:
                changes[use[0]].append((use[1], use[2], ""))
    return {path: _changed(sources[path], each) for path, each in changes.items() if each}


def _changed(source: bytes, changes: list[_Change]) -> str:
    for start, end, text in sorted(set(changes), reverse=True):
        source = source[:start] + text.encode() + source[end:]
    return source.decode(errors="surrogateescape")


def _changes(node: Any, source: bytes) -> Iterator[_Change]:
    if node.kind == syntax.SyntaxKind.InitialBlock:
        for assignment in _assignments(node, syntax.SyntaxKind.NonblockingAssignmentExpression):
            start = assignment.operatorToken.location.offset
            if source[start : start + 2] == b"<=":
                yield start, start + 2, "="
    elif _is_delay(node):
        place = node.sourceRange
        yield place.start.offset, place.end.offset, ""
    elif node.kind == syntax.SyntaxKind.CaseStatement and _is_full(node, source):
        assigned = _assignments(node, syntax.SyntaxKind.AssignmentExpression)
        targets = dict.fromkeys(_text(each.left, source) for each in assigned)
        if targets:
            unknown = " ".join(f"{target} = 'x;" for target in targets)
            start = node.endcase.location.offset
            yield start, start, f"default: begin {unknown} end "


def _is_delay(node: Any) -> bool:
    """Whether this is a delay within a process that something else starts: `initial`, an edge or a change.

    A process that only its delay starts, like the clock of a test bench, has no gates.
    """
    if node.kind != syntax.SyntaxKind.DelayControl:
        return False
    process = _process_around(node)
    if process is None:
        return False
    starts = getattr(process.statement, "timingControl", None) == node
    return not starts or process.kind == syntax.SyntaxKind.InitialBlock


def _is_full(case: Any, source: bytes) -> bool:
    """Whether a case of logic without a clock says that it is full, and has no default."""
    if any(item.kind == syntax.SyntaxKind.DefaultCaseItem for item in case.items):
        return False
    start, keyword = case.sourceRange.start.offset, case.caseKeyword.location.offset
    attributes = source[start:keyword].decode(errors="replace")
    head = source[keyword : case.items[0].sourceRange.start.offset].decode(errors="replace")
    if not (_FULL.search(attributes) or _FULL_COMMENT.search(head)):
        return False
    process = _process_around(case)
    if process is None:
        return False
    control = getattr(process.statement, "timingControl", None)
    return control is None or _EDGE.search(str(control)) is None


def _process_around(node: Any) -> Any:
    """The `initial` or `always` that a part of the syntax stands in; None outside of both."""
    outer = node.parent
    while outer is not None and not isinstance(outer, syntax.ProceduralBlockSyntax):
        outer = outer.parent
    return outer


def _assignments(node: Any, kind: syntax.SyntaxKind) -> list[Any]:
    found: list[Any] = []

    def visit(each: Any) -> None:
        if isinstance(each, syntax.SyntaxNode) and each.kind == kind:
            found.append(each)

    node.visit(visit)
    return found


def _text(node: Any, source: bytes) -> str:
    place = node.sourceRange
    return source[place.start.offset : place.end.offset].decode()
