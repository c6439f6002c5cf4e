/* Compression and decompression a chunk at a time, with the habits of ZSTD_compressStream2() and
 * ZSTD_decompressStream().
 *
 * Units keep nothing between two operations. A stream is therefore what each format calls pieces one after the
 * other, each of which a unit makes at once and which stand for themselves; what is between is kept here:
 *
 *   RACKWRIGHT_ZSTD     frames (RFC 8878)
 *   RACKWRIGHT_DEFLATE  members of gzip (RFC 1952), each with its length in an extra field as in BGZF (the SAM/BAM
 *                       specification, section 4.1)
 *   RACKWRIGHT_SNAPPY   chunks of Snappy's framing format
 *
 * Matches don't reach from one piece into another. A piece is decompressed when all of it is there: of ZStd, one frame
 * of others may be as long as all of its stream; members of gzip without that extra field are kept until the stream
 * ends. Streams of zlib's format have no pieces: there are none here.
 */
#ifndef RACKWRIGHT_STREAM_H
#define RACKWRIGHT_STREAM_H

#include <stdbool.h>

#include "rackwright_compression.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct rackwright_stream rackwright_stream;

/* Bytes from which a stream takes: those before `position` have been taken. */
typedef struct {
    const void *src;
    size_t size, position;
} rackwright_input;

/* Room into which it puts: what is before `position` has been put. */
typedef struct {
    void *dst;
    size_t size, position;
} rackwright_output;

/* A stream that compresses pieces of `piece` bytes, at most what the format allows; 0 stands for 128 KiB or that.
 * NULL without memory, or if the format has no streams. */
rackwright_stream *rackwright_stream_compress(rackwright_format format, size_t piece);

/* A stream that decompresses. */
rackwright_stream *rackwright_stream_decompress(rackwright_format format);

/* Takes and puts as much as it can. `end` says that no input follows; it is said again until all is put.
 *
 * Comes back with 0 when `end` was said and all has been put; with another number, when more input or more room is
 * needed; or with an error, which then stays: `malformed` also for input that ends too soon, `unsupported` also without
 * memory. */
size_t rackwright_stream_run(rackwright_stream *stream, rackwright_output *output,
                             rackwright_input *input, bool end);

void rackwright_stream_free(rackwright_stream *stream);

#ifdef __cplusplus
}
#endif

#endif
