"""The units that stand beside the harts of a server, by their names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from rackwright import _engine
from rackwright.clocks import clock_of
from rackwright.designs import ParameterValue, design, elaborate, manifest_of
from rackwright.errors import RackwrightError

SETS = {
    "snappy": ("snappy-compress", "snappy-decompress"),
    "zstd": ("zstd-compress", "zstd-decompress"),
    "deflate": ("deflate-compress", "deflate-decompress"),
    "protobuf": ("protobuf-deserialize", "protobuf-serialize"),
}
"""Names that stand for several units."""


def _expand(
    accelerators: Sequence[str | Path | _engine.Design],
) -> list[str | Path | _engine.Design]:
    expanded: list[str | Path | _engine.Design] = []
    for accelerator in accelerators:
        members = SETS.get(accelerator) if isinstance(accelerator, str) else None
        expanded += members or (accelerator,)
    return expanded


def _manifest_of(accelerator: str | Path, parameters: Mapping[str, ParameterValue] | None) -> Path:
    try:
        return manifest_of(accelerator, parameters)
    except RackwrightError as error:
        if not str(error).startswith("no unit is named"):
            raise
        raise RackwrightError(f"{error}; and the sets {', '.join(SETS)}") from error


def build_units(
    accelerators: Sequence[str | Path | _engine.Design],
    parameters: Mapping[str, Mapping[str, ParameterValue]],
    clock: str | None = None,
    *,
    waves: bool = False,
    translation: bool = False,
) -> list[_engine.Design]:
    """The units of a server: elaborates and compiles what is not compiled yet, two at a time.

    With `translation`, those that are named by their names translate virtual addresses.
    """
    wanted = _expand(accelerators)
    strangers = set(parameters) - {str(each) for each in wanted}
    if strangers:
        raise RackwrightError(f"parameters of {', '.join(sorted(strangers))}, which the server does not have")

    def build(accelerator: str | Path | _engine.Design) -> _engine.Design:
        if isinstance(accelerator, _engine.Design):
            return accelerator
        own = parameters.get(str(accelerator))
        if translation and not str(accelerator).endswith(".json"):
            manifest = elaborate(str(accelerator), own, translation=True)
        else:
            manifest = _manifest_of(accelerator, own)
        return design(manifest, waves=waves, clock_hz=clock_of(manifest, clock).hertz)

    with ThreadPoolExecutor(max_workers=2) as pool:
        return list(pool.map(build, wanted))
