"""Personal information: four records of text, as one text.

Shapes are those of table 3.1 of Wang 2025 (operations: concatenate, flatten); records are the first axis.
"""

from rackwright import drx
from rackwright.drx import u8, xp


@drx.kernel
def redaction(records: u8[4, 2048, 768]) -> u8[4 * 2048 * 768]:
    """The records one behind the other."""
    return xp.reshape(xp.concat([records[i] for i in range(4)]), (-1,))
