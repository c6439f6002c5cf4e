/* Operations whose input comes in pieces, by units that keep their state between them: units that were built with
 * streaming=1. They work on what is there while the rest is still to come, and what they have made can be used at once.
 *
 * Input and output each lie in one range of memory; the pieces follow one another. Until the operation ends, neither range
 * may move, and the unit does nothing else: other operations wait. For programs that have the units to themselves; in a
 * process of an operating system rackwright_feeds() is false.
 */
#ifndef RACKWRIGHT_FEED_H
#define RACKWRIGHT_FEED_H

#include <stdbool.h>

#include "rackwright_compression.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Frames of ZStd; DEFLATE data alone, in zlib's wrapper, as members of gzip; Snappy, which is only compressed in pieces. */
typedef enum {
    RACKWRIGHT_FEED_ZSTD,
    RACKWRIGHT_FEED_DEFLATE,
    RACKWRIGHT_FEED_ZLIB,
    RACKWRIGHT_FEED_GZIP,
    RACKWRIGHT_FEED_SNAPPY
} rackwright_feed_format;

/* Which of the two units. */
typedef enum { RACKWRIGHT_FEED_DECOMPRESSOR, RACKWRIGHT_FEED_COMPRESSOR } rackwright_feed_unit;

/* Whether it takes input in pieces. */
bool rackwright_feeds(rackwright_feed_unit unit);

/* Has the decompressor begin: `size` bytes of the input are there. */
void rackwright_feed_decompress(rackwright_feed_format format, void *dst, size_t capacity, const void *src, size_t size);

/* Has the compressor begin. The whole input will have `total` bytes, as the formats say that at their beginning; none of
 * it is there. */
void rackwright_feed_compress(rackwright_feed_format format, void *dst, size_t capacity, const void *src, size_t total);

/* `bytes` more have come, behind those before; of a decompressor's input none come after the `last` ones. */
void rackwright_feed_more(rackwright_feed_unit unit, size_t bytes, bool last);

/* How many bytes of the output are there by now: all but those of the line that is being made. */
size_t rackwright_feed_written(rackwright_feed_unit unit);

/* Waits for the end, which comes after the last piece or with an error; yields the size of the output, or the error. */
size_t rackwright_feed_end(rackwright_feed_unit unit);

#ifdef __cplusplus
}
#endif

#endif
