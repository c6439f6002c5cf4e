/* Functions of ZStd that turn one buffer into another, by the units: link the program with -Wl,--wrap=NAME for each,
 * this archive and the official library.
 *
 * What a unit refuses goes to the library, which then has the last word: it says what is wrong with
 * the input, and does what the unit does not do. The unit has no levels. */
#include <zstd.h>

#include "offload.h"

size_t __real_ZSTD_compress(void *dst, size_t capacity, const void *src, size_t size, int level);
size_t __real_ZSTD_decompress(void *dst, size_t capacity, const void *src, size_t size);
size_t __real_ZSTD_compressCCtx(ZSTD_CCtx *context, void *dst, size_t capacity, const void *src,
                                size_t size, int level);
size_t __real_ZSTD_decompressDCtx(ZSTD_DCtx *context, void *dst, size_t capacity, const void *src,
                                  size_t size);

static size_t compress(void *dst, size_t capacity, const void *src, size_t size)
{
    return offload_compress(RACKWRIGHT_ZSTD, rackwright_compress_zstd, dst, capacity, src, size);
}

static size_t decompress(void *dst, size_t capacity, const void *src, size_t size)
{
    return offload_decompress(RACKWRIGHT_ZSTD, rackwright_decompress_zstd, dst, capacity, src, size);
}

size_t __wrap_ZSTD_compress(void *dst, size_t capacity, const void *src, size_t size, int level)
{
    const size_t result = compress(dst, capacity, src, size);
    return rackwright_is_error(result) ? __real_ZSTD_compress(dst, capacity, src, size, level)
                                       : result;
}

size_t __wrap_ZSTD_decompress(void *dst, size_t capacity, const void *src, size_t size)
{
    const size_t result = decompress(dst, capacity, src, size);
    return rackwright_is_error(result) ? __real_ZSTD_decompress(dst, capacity, src, size) : result;
}

/* Like ZSTD_compress(): what was set in the context does not count, says the library. */
size_t __wrap_ZSTD_compressCCtx(ZSTD_CCtx *context, void *dst, size_t capacity, const void *src,
                                size_t size, int level)
{
    const size_t result = compress(dst, capacity, src, size);
    return rackwright_is_error(result)
               ? __real_ZSTD_compressCCtx(context, dst, capacity, src, size, level)
               : result;
}

/* A frame that needs a dictionary of the context is refused by the unit, so that it goes to the library. */
size_t __wrap_ZSTD_decompressDCtx(ZSTD_DCtx *context, void *dst, size_t capacity, const void *src,
                                  size_t size)
{
    const size_t result = decompress(dst, capacity, src, size);
    return rackwright_is_error(result)
               ? __real_ZSTD_decompressDCtx(context, dst, capacity, src, size)
               : result;
}
