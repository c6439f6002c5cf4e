/* DEFLATE and its wrappers by the units deflate-compress and deflate-decompress. */
#include "rackwright_compression.h"
#include "unit.h"

/* Arguments of the command for the format. */
enum { DEFLATE, ZLIB, GZIP };

static size_t compress(int format, void *dst, size_t capacity, const void *src, size_t size)
{
    RACKWRIGHT_COMMAND(UNIT_COMPRESS, UNIT_COMPRESSED_FORMAT, format, 0);
    return UNIT_RUN(UNIT_COMPRESS, dst, capacity, src, size);
}

static size_t decompress(int format, void *dst, size_t capacity, const void *src, size_t size)
{
    RACKWRIGHT_COMMAND(UNIT_DECOMPRESS, UNIT_FORMAT, format, 0);
    return UNIT_RUN(UNIT_DECOMPRESS, dst, capacity, src, size);
}

/* The contract page of the compressor says why this is enough. */
size_t rackwright_deflate_bound(size_t size)
{
    return 64 + size + size / 256;
}

size_t rackwright_compress_deflate(void *dst, size_t capacity, const void *src, size_t size)
{
    return compress(DEFLATE, dst, capacity, src, size);
}

size_t rackwright_compress_zlib(void *dst, size_t capacity, const void *src, size_t size)
{
    return compress(ZLIB, dst, capacity, src, size);
}

size_t rackwright_compress_gzip(void *dst, size_t capacity, const void *src, size_t size)
{
    return compress(GZIP, dst, capacity, src, size);
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
