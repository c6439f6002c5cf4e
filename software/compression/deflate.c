/* DEFLATE and its wrappers by the units deflate-compress and deflate-decompress. */
#include "rackwright_compression.h"
#include "unit.h"

/* The contract page of the compressor says why this is enough. */
size_t rackwright_deflate_bound(size_t size)
{
    return 64 + size + size / 256;
}

size_t rackwright_compress_deflate(void *dst, size_t capacity, const void *src, size_t size)
{
    return unit_compress(UNIT_DEFLATE, dst, capacity, src, size);
}

size_t rackwright_compress_zlib(void *dst, size_t capacity, const void *src, size_t size)
{
    return unit_compress(UNIT_ZLIB, dst, capacity, src, size);
}

size_t rackwright_compress_gzip(void *dst, size_t capacity, const void *src, size_t size)
{
    return unit_compress(UNIT_GZIP, dst, capacity, src, size);
}

size_t rackwright_decompress_deflate(void *dst, size_t capacity, const void *src, size_t size)
{
    return unit_decompress(UNIT_DEFLATE, dst, capacity, src, size);
}

size_t rackwright_decompress_zlib(void *dst, size_t capacity, const void *src, size_t size)
{
    return unit_decompress(UNIT_ZLIB, dst, capacity, src, size);
}

size_t rackwright_decompress_gzip(void *dst, size_t capacity, const void *src, size_t size)
{
    return unit_decompress(UNIT_GZIP, dst, capacity, src, size);
}
