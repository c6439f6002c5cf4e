"""Results of DRX in the scratchpad: none is overwritten before it is read."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from drx_lifetimes import undisturbed
from drx_random import Case, of, same_numbers

from rackwright.drx import Compiled, Configuration, compile_kernel, temporaries, xp
from rackwright.drx.machine import run_model
from rackwright.drx.nest import Nest
from rackwright.drx.order import Phases
from rackwright.drx.tile import Tile

SMALL = Configuration.of({"lanes": 8, "scratchpad-kib": 4, "banks": 2})


def agrees(compiled: Compiled, case: Case) -> None:
    """The model gives what NumPy gives."""
    inputs = [np.ascontiguousarray(each).tobytes() for each in case.inputs]
    same_numbers(run_model(compiled.program, inputs, case.kernel.result.bytes, SMALL).output, case)


def _minimum() -> tuple[Case, Compiled]:
    """The minimum of an array in several tiles, and a division that has steps of constants alone."""
    array = np.random.default_rng(1).standard_normal((30, 40)).astype(np.float32)
    case = of(lambda x: (xp.min(x + xp.flip(x, axis=0)) + x[0]) / 3.0, [array])
    return case, compile_kernel(case.kernel, SMALL)


def test_what_each_tile_computes_does_not_overwrite_what_is_taken_together() -> None:
    case, compiled = _minimum()
    (tiling,) = compiled.tilings
    late = tiling.nest.late
    # Operations that read nothing of it come after one that reads the minimum.
    assert any(place not in late for place in range(min(late), len(tiling.nest.operations)))
    undisturbed(compiled)
    agrees(compiled, case)


def test_tiles_that_are_stored_together_are_each_computed() -> None:
    """Also one after the other, where there are too few calculators to load the next one meanwhile."""

    def choices(x: Any) -> Any:
        narrow = xp.clip(xp.clip(xp.flip(x, axis=0), 7136, 29722), 1, 8)
        square = narrow * narrow
        signed = xp.where(square > 13472, square, -square)
        return xp.where(signed != 4, signed, -signed)

    numbers = np.random.default_rng(8968).integers(0, 1 << 16, (12, 30, 23), np.uint16)
    case = of(choices, [numbers])
    compiled = compile_kernel(case.kernel, SMALL)
    (tiling,) = compiled.tilings
    assert tiling.tile.parts == 2
    undisturbed(compiled)
    agrees(compiled, case)


def test_lifetimes_of_another_order_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """If results were placed as if operations were computed in the order of their numbers."""

    def numbered(nest: Nest, tile: Tile, strip: int) -> Phases:
        return Phases((), tuple(range(len(nest.operations))), ())

    monkeypatch.setattr(temporaries, "phases_of", numbered)
    _, compiled = _minimum()
    with pytest.raises(AssertionError, match="for \\('operation', "):
        undisturbed(compiled)
