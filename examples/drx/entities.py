"""Named entities: a text without personal information, as rows of tokens.

Table 3.1 of Wang 2025 has the operations reshape and cast, and rows of 128 tokens; the text is as long as
what `redaction` gives, and each byte is a token.
"""

from rackwright import drx
from rackwright.drx import i32, u8, xp

ROWS = 4 * 2048 * 768 // 128


@drx.kernel
def entities(text: u8[128 * ROWS]) -> i32[ROWS, 128]:
    """Bytes as tokens, a sequence of 128 a row."""
    return xp.astype(xp.reshape(text, (ROWS, 128)), xp.int32)
