/* One operation of a unit that turns one buffer into another, whichever format it has.
 * The contract is on the units' pages under hardware/. */
#ifndef RACKWRIGHT_COMPRESSION_UNIT_H
#define RACKWRIGHT_COMPRESSION_UNIT_H

#include <stddef.h>
#include <stdint.h>

/* Formats, as units of several of them number them: arguments of UNIT_ALGORITHM. Units of one format do that one. */
typedef enum { UNIT_SNAPPY, UNIT_ZSTD, UNIT_DEFLATE = 4, UNIT_ZLIB, UNIT_GZIP } unit_format;

/* What stands around DEFLATE data, as units of DEFLATE alone number it; below 0 for other formats, of which units get no
 * such command. */
static inline int64_t unit_wrapper(unit_format format)
{
    return (int64_t)format - UNIT_DEFLATE;
}

/* Runs one operation on the unit in custom-0 or custom-1; yields its output bytes, or (size_t)-status. */
size_t unit_decompress(unit_format format, void *dst, size_t capacity, const void *src, size_t size);
size_t unit_compress(unit_format format, void *dst, size_t capacity, const void *src, size_t size);

#endif
