"""Workloads in a file: what is read of them, the program that is built, and what is kept of a run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from command_line import rw

from bootstrap.paths import REPOSITORY
from rackwright import RackwrightError
from rackwright.machine.workload_file import WorkloadFile, workload_of

TEXT = REPOSITORY / "examples" / "soc" / "workloads" / "text.c"

PRINTS = """#include "bare.h"
#include "units.h"
extern const char text[], text_end[];
int main(void) {
  print_number((uint64_t)(text_end - text));
  print_text(text);
  return WORKS;
}
"""


def written(folder: Path, **fields: Any) -> Path:
    """A workload beside `main.c` and `text.txt`."""
    (folder / "main.c").write_text(PRINTS, encoding="utf-8")
    (folder / "text.txt").write_text(" bytes\n", encoding="utf-8")
    path = folder / "work.yaml"
    path.write_text(yaml.safe_dump(fields), encoding="utf-8")
    return path


def test_a_workload_runs_with_its_data_and_its_output_is_kept(tmp_path: Path) -> None:
    path = written(
        tmp_path,
        sources=["main.c"],
        files={"text": "text.txt"},
        collect={"stdout": str(tmp_path / "kept" / "out.txt"), "report": str(tmp_path / "out.json")},
    )
    program = WorkloadFile.load(path).build("#define WORKS 3\n")
    ended = rw("run", "--cpu", "functional", program)
    assert (ended.status, ended.stdout) == (3, "7 bytes\n")
    path.write_text(
        yaml.safe_dump(yaml.safe_load(path.read_text()) | {"sources": None, "files": None})
        .replace("sources: null", f"program: {program}")
        .replace("files: null\n", ""),
        encoding="utf-8",
    )
    ended = rw("run", "--cpu", "functional", path)
    assert (ended.status, ended.stdout) == (3, "7 bytes\n")
    assert (tmp_path / "kept" / "out.txt").read_text() == ended.stdout
    assert json.loads((tmp_path / "out.json").read_text())["exit_code"] == 3


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({}, "it has not one of program and sources"),
        ({"program": "main.c", "sources": ["main.c"]}, "it has not one of program and sources"),
        ({"program": "main.elf"}, "program is main.elf: no such file"),
        ({"sources": []}, "sources is empty"),
        ({"sources": ["main.c", "none.c"]}, r"sources\[1\] is none.c: no such file"),
        ({"sources": "main.c"}, "sources is 'main.c', not a list of words"),
        ({"sources": ["main.c"], "files": {"1st": "text.txt"}}, "files has '1st', which is no name in C"),
        ({"sources": ["main.c"], "files": {"text": "none"}}, "files.text is none: no such file"),
        ({"program": "main.c", "files": {"text": "text.txt"}}, "files are compiled with sources"),
        ({"sources": ["main.c"], "arguments": [[]]}, r"arguments is \[\[\]\], not a list"),
        ({"sources": ["main.c"], "collect": {"waves": "x"}}, "collect has 'waves'; there are stdout, report"),
        ({"sources": ["main.c"], "collect": {"stdout": 1}}, "collect.stdout is 1, not a path"),
        ({"image": "x"}, "it has 'image'; there are program, sources"),
    ],
)
def test_a_file_that_is_no_workload_names_the_field(
    fields: dict[str, Any], said: str, tmp_path: Path
) -> None:
    path = written(tmp_path, **fields)
    with pytest.raises(RackwrightError, match=rf"work.yaml: {said}"):
        workload_of(path, [])


def test_a_workload_says_its_arguments_itself(tmp_path: Path) -> None:
    path = written(tmp_path, sources=["main.c"], arguments=["a", 4])
    assert workload_of(path, []).arguments == ("a", "4")
    with pytest.raises(RackwrightError, match="says the arguments of its program"):
        workload_of(path, ["b"])
    assert workload_of(TEXT, ["b"]).arguments == ("b",)
    (tmp_path / "main.c").write_text("int main(void) { return no; }\n", encoding="utf-8")
    with pytest.raises(RackwrightError, match=r"work.elf does not compile: .*main.c.*no. undeclared"):
        workload_of(path, []).build("")
