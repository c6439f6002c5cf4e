"""Mutants of modules: every one changes one expression, and a test that fails is noticed."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from rackwright.testing import mutants as testing
from rackwright.testing.mutants import finder, mutants

MODULE = '''"""Ünits."""


def largest(numbers):
    found = numbers[0]
    for number in numbers[1:]:
        if number > found and number is not None:
            found = number + 0
    return found if numbers else -1
'''

TEST = """
from module import largest

def test_largest():
    assert largest([1, 3, 2]) == 3
    assert largest([2, 2]) == 2
"""


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A module with a test, in a folder of their own."""
    (tmp_path / "module.py").write_text(MODULE, encoding="utf-8")
    (tmp_path / "test_module.py").write_text(TEST, encoding="utf-8")
    monkeypatch.setattr(testing, "PYTHON", tmp_path)
    return tmp_path / "module.py"


def test_every_mutant_is_another_module(module: Path) -> None:
    found = [mutant.applied(MODULE) for mutant in mutants(module)]
    for text in found:
        assert ast.dump(ast.parse(text)) != ast.dump(ast.parse(MODULE))
    assert len(set(found)) == len(found)
    assert "if ((number) >= (found)) and" in "".join(found)
    assert "found = ((number) - (0))" in "".join(found)
    assert "(not (numbers))" in "".join(found)
    assert "numbers[(1 + 1):]" in "".join(found)


def test_a_test_that_fails_finds_a_mutant(module: Path) -> None:
    by_text = {mutant.text: mutant for mutant in mutants(module)}
    turned = by_text["(not (number > found and number is not None))"]
    assert "test_largest" in str(finder(turned, ["test_module.py"]))
    assert finder(by_text["((number) - (0))"], ["test_module.py"]) is None
    assert module.read_text(encoding="utf-8") == MODULE
