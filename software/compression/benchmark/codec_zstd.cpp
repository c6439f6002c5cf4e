#include <zstd.h>

#include "codec.h"

static size_t checked(size_t result)
{
    return ZSTD_isError(result) ? failed : result;
}

size_t codec_bound(size_t size)
{
    return 64 + size + size / 6; // also enough for the unit
}

size_t codec_compress(void *dst, size_t capacity, const void *src, size_t size, int level)
{
    return checked(ZSTD_compress(dst, capacity, src, size, level));
}

size_t codec_decompress(void *dst, size_t capacity, const void *src, size_t size)
{
    return checked(ZSTD_decompress(dst, capacity, src, size));
}
