/* What streams of a format are made of: pieces that stand for themselves. */
#ifndef RACKWRIGHT_COMPRESSION_PIECES_H
#define RACKWRIGHT_COMPRESSION_PIECES_H

#include <stdbool.h>
#include <stdint.h>

#include "rackwright_compression.h"

/* Values of `bytes` below that are no lengths: more has to be there before it is known, or the piece ends where the
 * stream does. */
#define PIECE_INCOMPLETE 0
#define PIECE_UNBOUNDED ((size_t)1 << 62)

/* How long a piece is, and the most bytes that it stands for: for an unbounded one only an estimate. */
typedef struct {
    size_t bytes; /* or an error */
    size_t plain;
} piece_extent;

/* As in rackwright_compression.h. */
typedef size_t piece_function(void *dst, size_t capacity, const void *src, size_t size);

typedef struct {
    size_t most_plain;             /* bytes that a piece may stand for */
    size_t (*bound)(size_t plain); /* room that is enough for a piece */
    piece_function *compress;
    /* What a stream begins and ends with. A stream of ZStd has a frame at least. */
    const unsigned char *head, *tail;
    size_t head_bytes, tail_bytes;
    bool never_empty;
    piece_extent (*extent)(const unsigned char *src, size_t size);
    piece_function *decompress;
} piece_format;

extern const piece_format rackwright_zstd_pieces, rackwright_gzip_pieces, rackwright_snappy_pieces;

/* The little-endian number in `bytes` bytes. */
static inline uint64_t piece_number(const unsigned char *src, unsigned bytes)
{
    uint64_t number = 0;
    for (unsigned i = 0; i < bytes; i++) number |= (uint64_t)src[i] << (8 * i);
    return number;
}

static inline void piece_store(unsigned char *dst, uint64_t number, unsigned bytes)
{
    for (unsigned i = 0; i < bytes; i++) dst[i] = (unsigned char)(number >> (8 * i));
}

static inline piece_extent piece_refused(rackwright_status status)
{
    return (piece_extent){(size_t)0 - (size_t)status, 0};
}

#endif
