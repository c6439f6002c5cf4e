/* The compression units as functions of one buffer, with the habits of the official libraries:
 * destination and its capacity, source and its size; the size of the result or an error comes back,
 * in one size_t that rackwright_is_error() tells apart, as ZSTD_isError() does.
 *
 * A server has the units of one format at a time: those that decompress answer to custom-0, those
 * that compress to custom-1. Calling a function whose unit the server has not is an illegal
 * instruction. Ranges may have any alignment and length, and must not overlap. Whatever the source
 * holds, the unit ends and stays inside the two ranges. Not safe from two threads at once.
 *
 * Programs that are written for ZSTD_compress(), ZSTD_decompress(), compress(), compress2(),
 * uncompress(), snappy_compress() and snappy_uncompress() need not be changed: replace_*.c give these
 * calls to the units when they are linked with -Wl,--wrap=NAME.
 */
#ifndef RACKWRIGHT_COMPRESSION_H
#define RACKWRIGHT_COMPRESSION_H

#include <stddef.h>

#include "rackwright/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Whether a result is an error and not a size. */
static inline int rackwright_is_error(size_t result)
{
    return result > (size_t)-1 - RACKWRIGHT_ACCESS_FAULT;
}

/* The status behind a result: RACKWRIGHT_OK for a size. */
static inline rackwright_status rackwright_error_status(size_t result)
{
    return rackwright_is_error(result) ? (rackwright_status)((size_t)0 - result) : RACKWRIGHT_OK;
}

/* Its name, for example "output_full". */
static inline const char *rackwright_error_name(size_t result)
{
    return rackwright_status_name(rackwright_error_status(result));
}

/* Room with which compressing `size` bytes never ends in an error. */
size_t rackwright_zstd_bound(size_t size);
size_t rackwright_snappy_bound(size_t size);
size_t rackwright_deflate_bound(size_t size);

/* One Zstandard frame, with the content's size and no checksum. */
size_t rackwright_compress_zstd(void *dst, size_t capacity, const void *src, size_t size);

/* All frames of `src`, one after the other; skippable ones are passed over. */
size_t rackwright_decompress_zstd(void *dst, size_t capacity, const void *src, size_t size);

size_t rackwright_compress_snappy(void *dst, size_t capacity, const void *src, size_t size);
size_t rackwright_decompress_snappy(void *dst, size_t capacity, const void *src, size_t size);

/* DEFLATE data alone (RFC 1951), in zlib's wrapper (RFC 1950), as one gzip member (RFC 1952). */
size_t rackwright_compress_deflate(void *dst, size_t capacity, const void *src, size_t size);
size_t rackwright_compress_zlib(void *dst, size_t capacity, const void *src, size_t size);
size_t rackwright_compress_gzip(void *dst, size_t capacity, const void *src, size_t size);

/* The same back; gzip may have several members.
 * Checksums are verified. What follows the end of the first two is not looked at. */
size_t rackwright_decompress_deflate(void *dst, size_t capacity, const void *src, size_t size);
size_t rackwright_decompress_zlib(void *dst, size_t capacity, const void *src, size_t size);
size_t rackwright_decompress_gzip(void *dst, size_t capacity, const void *src, size_t size);

#ifdef __cplusplus
}
#endif

#endif
