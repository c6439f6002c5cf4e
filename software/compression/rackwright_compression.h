/* The compression units as functions of one buffer, with the habits of the official libraries:
 * destination and its capacity, source and its size; the size of the result or an error comes back,
 * in one size_t that rackwright_is_error() tells apart, as ZSTD_isError() does.
 *
 * A server has one unit that decompresses, which answers to custom-0, and one that compresses, in custom-1: of one
 * format, or of several. rackwright_find_units() says of which; calling a function whose unit
 * the server has not is an illegal instruction. Ranges may have any alignment and length, and must not
 * overlap. Whatever the source holds, the unit ends and stays inside the two ranges.
 *
 * In a process of an operating system, pages of the ranges need not be there, other processes may use
 * the same units, and threads may call at once (rackwright/process.h). In a program that has the machine to
 * itself, they must not.
 *
 * Programs that are written for ZSTD_compress(), ZSTD_decompress(), compress(), compress2(),
 * uncompress(), snappy_compress() and snappy_uncompress() need not be changed: replace_*.c give these
 * calls to the units, when programs are linked with -Wl,--wrap=NAME or, on Linux, started with
 * LD_PRELOAD=librackwright-preload.so. The libraries get what there is no unit for and what units refuse;
 * with RACKWRIGHT_REPORT in the environment, the program says at its end how many calls that were.
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

typedef enum {
    RACKWRIGHT_NO_FORMAT,
    RACKWRIGHT_SNAPPY,
    RACKWRIGHT_ZSTD,
    RACKWRIGHT_DEFLATE, /* and its wrappers */
} rackwright_format;

/* What the units beside this hart do: bit `format` of each for every format. */
typedef struct {
    unsigned compresses, decompresses;
} rackwright_units;

/* Finds out by small operations; takes SIGILL for a moment. Only in a process of an operating system: a program that
 * has the machine to itself is ended by the first command to a unit that is not there. Units in custom-0 and custom-1
 * must be ours, if there are any. */
rackwright_units rackwright_find_units(void);

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
