/* Members of gzip (RFC 1952) with their length in an extra field, as BGZF has it (the SAM/BAM specification, 4.1). */
#include <string.h>

#include "pieces.h"

/* A member's head: deflated, with an extra field of six bytes, by nobody's system; subfield BC of two bytes, which are the
 * member's length less one. */
static const unsigned char head[] = {0x1f, 0x8b, 8, 4, 0, 0, 0, 0, 0, 0xff, 6, 0, 'B', 'C', 2, 0};
#define HEAD_BYTES (sizeof head + 2)

/* An empty member, with which BGZF ends. */
static const unsigned char end_mark[] = {0x1f, 0x8b, 8, 4, 0, 0, 0, 0, 0, 0xff, 6, 0, 'B', 'C',
                                         2,    0,    27, 0, 3, 0, 0, 0, 0, 0,    0, 0, 0,   0};

/* Bytes of the head that the unit writes, and by how many ours is longer. */
#define UNIT_HEAD_BYTES 10
#define LONGER (HEAD_BYTES - UNIT_HEAD_BYTES)

/* Of which the member has 65,536 at most, whatever they are. */
#define MOST_PLAIN 65024
#define MOST_PLAIN_OF_OTHERS 65536

/* Every member is tried with this much more room than it has bytes, at least. */
#define USUAL_RATIO 4

static size_t bound(size_t plain)
{
    return LONGER + rackwright_deflate_bound(plain);
}

static size_t compress(void *dst, size_t capacity, const void *src, size_t size)
{
    unsigned char *member = dst;
    if (capacity < LONGER) return (size_t)0 - RACKWRIGHT_OUTPUT_FULL;
    const size_t length = rackwright_compress_gzip(member + LONGER, capacity - LONGER, src, size);
    if (rackwright_is_error(length)) return length;
    memcpy(member, head, sizeof head);
    piece_store(member + sizeof head, LONGER + length - 1, 2);
    return LONGER + length;
}

static piece_extent extent(const unsigned char *src, size_t size)
{
    const size_t there = size < sizeof head ? size : sizeof head;
    /* Time, hints and system may be any: bytes 4 to 9. */
    for (size_t i = 0; i < there; i++) {
        if ((i < 4 || i > 9) && src[i] != head[i]) return (piece_extent){PIECE_UNBOUNDED, USUAL_RATIO * size};
    }
    if (size < HEAD_BYTES) return (piece_extent){PIECE_INCOMPLETE, 0};
    const size_t bytes = 1 + piece_number(src + sizeof head, 2);
    if (bytes < sizeof end_mark) return piece_refused(RACKWRIGHT_MALFORMED);
    if (bytes > size) return (piece_extent){PIECE_INCOMPLETE, 0};
    const size_t plain = piece_number(src + bytes - 4, 4);
    return plain > MOST_PLAIN_OF_OTHERS ? piece_refused(RACKWRIGHT_MALFORMED) : (piece_extent){bytes, plain};
}

const piece_format rackwright_gzip_pieces = {
    .most_plain = MOST_PLAIN,
    .bound = bound,
    .compress = compress,
    .tail = end_mark,
    .tail_bytes = sizeof end_mark,
    .extent = extent,
    .decompress = rackwright_decompress_gzip,
};
