"""Where the modules of the package are, and that former names of modules are still found."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path

import pytest

import rackwright


def test_no_module_is_flat_but_that_of_errors() -> None:
    modules = {path.stem for path in Path(rackwright.__file__).parent.glob("*.py")}
    assert modules == {"__init__", "errors"}


@pytest.mark.parametrize("former", sorted(rackwright.MOVED))
def test_a_moved_module_is_found_by_its_former_name(former: str) -> None:
    sys.modules.pop(f"rackwright.{former}", None)
    present = f"rackwright.{rackwright.MOVED[former]}"
    with pytest.warns(DeprecationWarning, match=f"`rackwright.{former}` is now `{present}`"):
        module = import_module(f"rackwright.{former}")
    assert module is import_module(present)
