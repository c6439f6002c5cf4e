"""Protocol Buffers: frequency and area of the units in an ASIC."""

from __future__ import annotations

from rackwright.errors import RackwrightError
from rackwright.hardware.designs import Elaboration, elaborate_all
from rackwright.reports.plots import Bar, bar_chart
from rackwright.reproduce.experiment import Experiment, Outcome, Settings
from rackwright.reproduce.reference import compare
from rackwright.synthesis.table import row_of_manifest

_UNITS = {"deserializer": "protobuf-deserialize", "serializer": "protobuf-serialize"}


def _measure(settings: Settings) -> Outcome:
    """The synthesis rows of the units as currently elaborated."""
    settings.detail("proto-asic: elaborating")
    manifests = elaborate_all([Elaboration(unit) for unit in _UNITS.values()])
    measured, bars = {}, []
    for (name, unit), manifest in zip(_UNITS.items(), manifests, strict=True):
        row = row_of_manifest(manifest)
        if row is None:
            raise RackwrightError(f"{unit} has no row of synthesis: `./rw synth {unit} --update` makes it")
        measured[f"{name}: frequency"] = row.clock_hz / 1e9
        measured[f"{name}: area"] = row.area_mm2
        bars.append(Bar(name, row.area_mm2, f"{row.area_mm2:.3f} mm²", "unit"))
    return Outcome(compare("protobuf/asic.csv", measured), [bar_chart("Area, mm²", bars)])


EXPERIMENT = Experiment(
    "proto-asic",
    "Frequency and area of the protobuf units in an ASIC",
    "Karandikar 2021 (MICRO), section 5.3",
    "synthesis of both units, 16/22 nm class (validation/synthesis)",
    _measure,
)
