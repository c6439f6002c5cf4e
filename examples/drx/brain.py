"""Brain stimulation: spectra of eight channels, as observations of one byte.

Shapes are those of table 3.1 of Wang 2025 (operations: power, divide, multiply, cast): 256 windows of 1024
frequencies in eight channels, each of which has a power at rest at each frequency.
"""

from rackwright import drx
from rackwright.drx import f32, i8, xp


@drx.kernel
def brain(spectra: f32[256, 1024, 8], rest: f32[1024, 8]) -> i8[256, 1024, 8]:
    """Sixteenths of the power at rest, up to 127."""
    return xp.astype(xp.clip(16 * (spectra**2 / rest), -128, 127), xp.int8)
