"""Which tests a short run leaves to `./rw test --long`, and why."""

from __future__ import annotations

from typing import Any

import pytest


def long(*values: object, why: str, name: str | None = None) -> Any:
    """A parameter for a long run alone; `why` is what it costs, or who else would find what it finds."""
    return pytest.param(*values, marks=pytest.mark.long(why), id=name)
