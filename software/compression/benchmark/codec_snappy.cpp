#include <snappy-c.h>

#include "codec.h"

size_t codec_bound(size_t size)
{
    return snappy_max_compressed_length(size);
}

size_t codec_compress(void *dst, size_t capacity, const void *src, size_t size, int)
{
    size_t length = capacity;
    const snappy_status result = snappy_compress(static_cast<const char *>(src), size,
                                                 static_cast<char *>(dst), &length);
    return result == SNAPPY_OK ? length : failed;
}

size_t codec_decompress(void *dst, size_t capacity, const void *src, size_t size)
{
    size_t length = capacity;
    const snappy_status result = snappy_uncompress(static_cast<const char *>(src), size,
                                                   static_cast<char *>(dst), &length);
    return result == SNAPPY_OK ? length : failed;
}
