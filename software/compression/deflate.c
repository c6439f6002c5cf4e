/* DEFLATE and its wrappers by the unit deflate-decompress. */
#include "rackwright_compression.h"
#include "unit.h"

/* Arguments of UNIT_FORMAT. */
enum { DEFLATE, ZLIB, GZIP };

static size_t decompress(int format, void *dst, size_t capacity, const void *src, size_t size)
{
    RACKWRIGHT_COMMAND(UNIT_DECOMPRESS, UNIT_FORMAT, format, 0);
    return UNIT_RUN(UNIT_DECOMPRESS, dst, capacity, src, size);
}

size_t rackwright_decompress_deflate(void *dst, size_t capacity, const void *src, size_t size)
{
    return decompress(DEFLATE, dst, capacity, src, size);
}

size_t rackwright_decompress_zlib(void *dst, size_t capacity, const void *src, size_t size)
{
    return decompress(ZLIB, dst, capacity, src, size);
}

size_t rackwright_decompress_gzip(void *dst, size_t capacity, const void *src, size_t size)
{
    return decompress(GZIP, dst, capacity, src, size);
}
