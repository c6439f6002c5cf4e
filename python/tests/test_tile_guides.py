"""The examples of docs/service-in-ten-minutes.md: a service by a unit and by a program, and its graph."""

from __future__ import annotations

from pathlib import Path

from command_line import REPOSITORY, rw
from tile_programs import said

from rackwright import compile_program

EXAMPLES = REPOSITORY / "examples" / "tiles"


def test_a_service_by_the_unit_and_by_a_program_gives_the_same_answers() -> None:
    program = compile_program([EXAMPLES / "service.c"], options=["-pthread", "-Wall", "-Wextra", "-Werror"])
    words = ["a service", "in ten minutes", "x" * 64]
    for by in ("unit", "program"):
        assert said(EXAMPLES / "service.yaml", program, by, *words) == [
            "a service",
            "in ten minutes",
            "refused",
        ]


def test_its_graph_is_legal_by_either(tmp_path: Path) -> None:
    by_unit = EXAMPLES / "service.graph.yaml"
    by_program = tmp_path / "graph.yaml"
    by_program.write_text(
        by_unit.read_text().replace("by: stream-copy, tile: copy", "by: program, tile: hart1")
    )
    for graph in (by_unit, by_program):
        record = rw("tiles", "check", EXAMPLES / "service.yaml", "--graph", graph, "--json").json()
        assert record["legal"], record["reason"]
