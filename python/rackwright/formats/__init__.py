"""The compressed formats: their units, what their official libraries do, and what of them can be chosen.

A format is a file here and its name in `registry.py`. Units of the format, levels, sets, suites and
explorations all take what they know of it from there.
"""

from rackwright.formats.codec import Codec
from rackwright.formats.format import OPERATIONS, Format
from rackwright.formats.registry import (
    CODECS,
    FORMATS,
    LEVELS,
    SETTINGS,
    USUAL_LEVEL,
    codec_unit,
    level_parameters,
)

__all__ = [
    "CODECS",
    "FORMATS",
    "LEVELS",
    "OPERATIONS",
    "SETTINGS",
    "USUAL_LEVEL",
    "Codec",
    "Format",
    "codec_unit",
    "level_parameters",
]
