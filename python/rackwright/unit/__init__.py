"""A unit as a value, alone against the memory model, and beside a hart.

`Buffer` and `Unit` are loaded when they are first used, as the names of the package above.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rackwright.unit.alone import Buffer, Unit

__all__ = ["Buffer", "Unit"]


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from rackwright.unit import alone

    return getattr(alone, name)
