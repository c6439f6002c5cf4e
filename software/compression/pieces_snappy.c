/* Chunks of Snappy's framing format: a kind, a length of three bytes, and for data a checksum of what it stands for. */
#include <string.h>

#include "crc32c.h"
#include "pieces.h"

enum { COMPRESSED, PLAIN, FIRST_SKIPPABLE = 0x80, IDENTIFIER = 0xff };

static const unsigned char identifier[] = {IDENTIFIER, 6, 0, 0, 's', 'N', 'a', 'P', 'p', 'Y'};

#define HEAD_BYTES 4
#define CHECKSUM_BYTES 4
#define DATA (HEAD_BYTES + CHECKSUM_BYTES) /* where it begins */
#define MOST_PLAIN 65536

/* What the format has in place of the CRC itself. */
static uint32_t checksum(const void *plain, size_t size)
{
    const uint32_t crc = rackwright_crc32c(plain, size);
    return ((crc >> 15) | (crc << 17)) + 0xa282ead8u;
}

static size_t bound(size_t plain)
{
    return DATA + rackwright_snappy_bound(plain);
}

static size_t compress(void *dst, size_t capacity, const void *src, size_t size)
{
    unsigned char *chunk = dst;
    if (capacity < DATA + size) return (size_t)0 - RACKWRIGHT_OUTPUT_FULL;
    size_t length = rackwright_compress_snappy(chunk + DATA, capacity - DATA, src, size);
    if (rackwright_is_error(length)) return length;
    chunk[0] = length < size ? COMPRESSED : PLAIN;
    if (chunk[0] == PLAIN) {
        memcpy(chunk + DATA, src, size);
        length = size;
    }
    piece_store(chunk + 1, CHECKSUM_BYTES + length, 3);
    piece_store(chunk + HEAD_BYTES, checksum(src, size), CHECKSUM_BYTES);
    return DATA + length;
}

static piece_extent extent(const unsigned char *src, size_t size)
{
    if (size < HEAD_BYTES) return (piece_extent){PIECE_INCOMPLETE, 0};
    const size_t bytes = HEAD_BYTES + piece_number(src + 1, 3);
    const bool data = src[0] == COMPRESSED || src[0] == PLAIN;
    if (data && bytes < DATA) return piece_refused(RACKWRIGHT_MALFORMED);
    if (!data && src[0] < FIRST_SKIPPABLE) return piece_refused(RACKWRIGHT_UNSUPPORTED);
    if (bytes > size) return (piece_extent){PIECE_INCOMPLETE, 0};
    return (piece_extent){bytes, data ? MOST_PLAIN : 0};
}

/* The bytes of a chunk with data, not yet checked. */
static size_t content(void *dst, size_t capacity, const unsigned char *chunk, size_t size)
{
    if (chunk[0] == COMPRESSED) return rackwright_decompress_snappy(dst, capacity, chunk + DATA, size - DATA);
    if (size - DATA > capacity) return (size_t)0 - RACKWRIGHT_OUTPUT_FULL;
    memcpy(dst, chunk + DATA, size - DATA);
    return size - DATA;
}

static size_t decompress(void *dst, size_t capacity, const void *src, size_t size)
{
    const unsigned char *chunk = src;
    if (chunk[0] == IDENTIFIER) {
        const bool right = size == sizeof identifier && memcmp(chunk, identifier, size) == 0;
        return right ? 0 : (size_t)0 - RACKWRIGHT_MALFORMED;
    }
    if (chunk[0] >= FIRST_SKIPPABLE) return 0;
    const size_t most = capacity < MOST_PLAIN ? capacity : MOST_PLAIN;
    const size_t length = content(dst, most, chunk, size);
    if (length == (size_t)0 - RACKWRIGHT_OUTPUT_FULL) return (size_t)0 - RACKWRIGHT_MALFORMED;
    if (rackwright_is_error(length)) return length;
    const bool right = piece_number(chunk + HEAD_BYTES, CHECKSUM_BYTES) == checksum(dst, length);
    return right ? length : (size_t)0 - RACKWRIGHT_MALFORMED;
}

const piece_format rackwright_snappy_pieces = {
    .most_plain = MOST_PLAIN,
    .bound = bound,
    .compress = compress,
    .head = identifier,
    .head_bytes = sizeof identifier,
    .extent = extent,
    .decompress = decompress,
};
