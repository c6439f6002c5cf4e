"""Video surveillance: a frame of pixels, as planes of half the width and height for a detector.

Shapes are those of table 3.1 of Wang 2025 (operations: multiply, max-pool, reshape, cast): 960 columns of 540
pixels in three colours become three planes of 270 rows and 480 columns.
"""

from rackwright import drx
from rackwright.drx import i8, u8, xp


@drx.kernel
def video(frame: u8[960, 540, 3]) -> i8[3, 270, 480]:
    """The brightest of four pixels, from 0 to 126."""
    pooled = xp.max(xp.reshape(frame, (480, 2, 270, 2, 3)), axis=(1, 3))
    planes = xp.permute_dims(pooled, (2, 1, 0))
    return xp.astype(xp.astype(planes, xp.int16) * 127 >> 8, xp.int8)
