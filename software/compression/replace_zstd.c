/* ZSTD_compress() and ZSTD_decompress() of a program by the units: link it with
 * -Wl,--wrap=ZSTD_compress,--wrap=ZSTD_decompress, this archive and the official library.
 *
 * What a unit refuses goes to the library, which then has the last word: it says what is wrong with
 * the input, and does what the unit does not do. The unit has no levels. */
#include "rackwright_compression.h"

size_t __real_ZSTD_compress(void *dst, size_t capacity, const void *src, size_t size, int level);
size_t __real_ZSTD_decompress(void *dst, size_t capacity, const void *src, size_t size);

size_t __wrap_ZSTD_compress(void *dst, size_t capacity, const void *src, size_t size, int level)
{
    const size_t result = rackwright_compress_zstd(dst, capacity, src, size);
    return rackwright_is_error(result) ? __real_ZSTD_compress(dst, capacity, src, size, level)
                                       : result;
}

size_t __wrap_ZSTD_decompress(void *dst, size_t capacity, const void *src, size_t size)
{
    const size_t result = rackwright_decompress_zstd(dst, capacity, src, size);
    return rackwright_is_error(result) ? __real_ZSTD_decompress(dst, capacity, src, size) : result;
}
