/* Frames of ZStd (RFC 8878, section 3): a head, then blocks that say how long they are. */
#include "pieces.h"

#define MAGIC 0xfd2fb528u
#define SKIPPABLE 0x184d2a50u /* and fifteen more */
#define MOST_IN_BLOCK (128u << 10)

enum { RAW, REPEATED, COMPRESSED, RESERVED };

/* Bytes of the head behind the magic number, by the descriptor that it begins with. */
static unsigned head_bytes(unsigned descriptor)
{
    static const unsigned dictionary[] = {0, 1, 2, 4}, content[] = {0, 2, 4, 8};
    const bool single = (descriptor & 0x20) != 0;
    const unsigned content_bytes = descriptor >> 6 == 0 ? single : content[descriptor >> 6];
    return 1 + !single + dictionary[descriptor & 3] + content_bytes;
}

static piece_extent blocks(const unsigned char *src, size_t size, size_t at, bool checksum)
{
    piece_extent found = {PIECE_INCOMPLETE, 0};
    for (bool last = false; !last;) {
        if (size < at + 3) return found;
        const uint64_t head = piece_number(src + at, 3);
        const unsigned kind = (head >> 1) & 3;
        last = head & 1;
        if (kind == RESERVED || head >> 3 > MOST_IN_BLOCK) return piece_refused(RACKWRIGHT_MALFORMED);
        at += 3 + (kind == REPEATED ? 1 : head >> 3);
        found.plain += kind == COMPRESSED ? MOST_IN_BLOCK : head >> 3;
    }
    at += checksum ? 4 : 0;
    if (at <= size) found.bytes = at;
    return found;
}

static piece_extent extent(const unsigned char *src, size_t size)
{
    if (size < 8) return (piece_extent){PIECE_INCOMPLETE, 0};
    const uint32_t magic = (uint32_t)piece_number(src, 4);
    if ((magic & ~15u) == SKIPPABLE) {
        const size_t bytes = 8 + piece_number(src + 4, 4);
        return (piece_extent){bytes <= size ? bytes : PIECE_INCOMPLETE, 0};
    }
    if (magic != MAGIC) return piece_refused(RACKWRIGHT_MALFORMED);
    const size_t head = 4 + head_bytes(src[4]);
    if (size < head) return (piece_extent){PIECE_INCOMPLETE, 0};
    return blocks(src, size, head, (src[4] & 4) != 0);
}

const piece_format rackwright_zstd_pieces = {
    .most_plain = (size_t)1 << 30,
    .bound = rackwright_zstd_bound,
    .compress = rackwright_compress_zstd,
    .never_empty = true,
    .extent = extent,
    .decompress = rackwright_decompress_zstd,
};
