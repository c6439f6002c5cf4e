/* ZStd by the units zstd-compress and zstd-decompress. */
#include "rackwright_compression.h"
#include "unit.h"

/* The contract page of the compressor says why this is enough. */
size_t rackwright_zstd_bound(size_t size)
{
    return 64 + size + size / 6;
}

size_t rackwright_compress_zstd(void *dst, size_t capacity, const void *src, size_t size)
{
    return unit_compress(UNIT_ZSTD, dst, capacity, src, size);
}

size_t rackwright_decompress_zstd(void *dst, size_t capacity, const void *src, size_t size)
{
    return unit_decompress(UNIT_ZSTD, dst, capacity, src, size);
}
