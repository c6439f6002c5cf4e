/* Snappy by the units snappy-compress and snappy-decompress. */
#include "rackwright_compression.h"
#include "unit.h"

/* The official library's bound. */
size_t rackwright_snappy_bound(size_t size)
{
    return 32 + size + size / 6;
}

size_t rackwright_compress_snappy(void *dst, size_t capacity, const void *src, size_t size)
{
    return unit_compress(UNIT_SNAPPY, dst, capacity, src, size);
}

size_t rackwright_decompress_snappy(void *dst, size_t capacity, const void *src, size_t size)
{
    return unit_decompress(UNIT_SNAPPY, dst, capacity, src, size);
}
