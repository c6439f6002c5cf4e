"""The compressed formats: their units, the functions of their official libraries, and their options.

A format is a file here and its name in `registry.py`. Units of the format, levels, sets, suites and
explorations all use these definitions.
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
