// DEFLATE in the wrapper that WINDOW_BITS asks zlib for (-15: none, 15: zlib's, 31: gzip's).
#include <zlib.h>

#include "codec.h"
#include "rackwright_compression.h"

// What zlib's wrapper adds is in its bound, gzip's is 12 bytes longer; the unit's bound is another one.
size_t codec_bound(size_t size)
{
    const size_t library = compressBound(size) + 12, unit = 64 + size + size / 256;
    return library > unit ? library : unit;
}

#if WINDOW_BITS == 15

size_t codec_compress(void *dst, size_t capacity, const void *src, size_t size, int level)
{
    uLongf length = capacity;
    const int result =
        compress2(static_cast<Bytef *>(dst), &length, static_cast<const Bytef *>(src), size, level);
    return result == Z_OK ? length : failed;
}

size_t codec_decompress(void *dst, size_t capacity, const void *src, size_t size)
{
    uLongf length = capacity;
    const int result =
        uncompress(static_cast<Bytef *>(dst), &length, static_cast<const Bytef *>(src), size);
    return result == Z_OK ? length : failed;
}

#elif defined BY_UNIT

// zlib has no functions of one call for these, which could be replaced.
size_t codec_compress(void *dst, size_t capacity, const void *src, size_t size, int)
{
    const auto compress = WINDOW_BITS < 0 ? rackwright_compress_deflate : rackwright_compress_gzip;
    const size_t result = compress(dst, capacity, src, size);
    return rackwright_is_error(result) ? failed : result;
}

size_t codec_decompress(void *dst, size_t capacity, const void *src, size_t size)
{
    const auto decompress =
        WINDOW_BITS < 0 ? rackwright_decompress_deflate : rackwright_decompress_gzip;
    const size_t result = decompress(dst, capacity, src, size);
    return rackwright_is_error(result) ? failed : result;
}

#else

size_t codec_compress(void *dst, size_t capacity, const void *src, size_t size, int level)
{
    z_stream stream = {};
    if (deflateInit2(&stream, level, Z_DEFLATED, WINDOW_BITS, 8, Z_DEFAULT_STRATEGY) != Z_OK) {
        return failed;
    }
    stream.next_in = static_cast<Bytef *>(const_cast<void *>(src));
    stream.avail_in = static_cast<uInt>(size);
    stream.next_out = static_cast<Bytef *>(dst);
    stream.avail_out = static_cast<uInt>(capacity);
    const int result = deflate(&stream, Z_FINISH);
    deflateEnd(&stream);
    return result == Z_STREAM_END ? stream.total_out : failed;
}

size_t codec_decompress(void *dst, size_t capacity, const void *src, size_t size)
{
    z_stream stream = {};
    if (inflateInit2(&stream, WINDOW_BITS) != Z_OK) return failed;
    stream.next_in = static_cast<Bytef *>(const_cast<void *>(src));
    stream.avail_in = static_cast<uInt>(size);
    stream.next_out = static_cast<Bytef *>(dst);
    stream.avail_out = static_cast<uInt>(capacity);
    const int result = inflate(&stream, Z_FINISH);
    inflateEnd(&stream);
    return result == Z_STREAM_END ? stream.total_out : failed;
}

#endif
