"""Sound detection: the spectrum of a Fourier transform, as mel-scaled bytes.

Shapes are those of table 3.1 of Wang 2025 (operations: power, add, multiply, divide, log10, cast): 8192
frames of 384 complex bins, whose real and imaginary parts take turns, and 128 mel bands. The divisor is the
energy of a window of 512.
"""

from rackwright import drx
from rackwright.drx import f32, u8, xp

FRAMES, BINS, BANDS, WINDOW = 8192, 384, 128, 512


@drx.kernel
def sound(spectrum: f32[FRAMES, 2 * BINS], bank: f32[BINS, BANDS]) -> u8[FRAMES, BANDS]:
    """Eight steps for each power of ten above the energy of a window."""
    bins = xp.reshape(spectrum, (FRAMES, BINS, 2))
    power = bins[..., 0] ** 2 + bins[..., 1] ** 2
    bands = xp.abs(power @ bank) / WINDOW
    return xp.astype(8 * xp.log10(bands + 1), xp.uint8)
