/* compress(), compress2() and uncompress() of a program by the units: link it with
 * -Wl,--wrap=compress,--wrap=compress2,--wrap=uncompress, this archive and the official zlib, which
 * gets what the units refuse. The unit has no levels: each that asks for compression gets the same,
 * and zlib gets level 0 and those that there are none of. */
#include <zlib.h>

#include "offload.h"

int __real_compress2(Bytef *dst, uLongf *length, const Bytef *src, uLong size, int level);
int __real_uncompress(Bytef *dst, uLongf *length, const Bytef *src, uLong size);

int __wrap_compress2(Bytef *dst, uLongf *length, const Bytef *src, uLong size, int level)
{
    const int compresses = level == Z_DEFAULT_COMPRESSION || (level >= 1 && level <= 9);
    const size_t result = compresses ? offload_compress(RACKWRIGHT_DEFLATE, rackwright_compress_zlib,
                                                        dst, *length, src, size)
                                     : offload_none();
    if (rackwright_is_error(result)) return __real_compress2(dst, length, src, size, level);
    *length = result;
    return Z_OK;
}

int __wrap_compress(Bytef *dst, uLongf *length, const Bytef *src, uLong size)
{
    return __wrap_compress2(dst, length, src, size, Z_DEFAULT_COMPRESSION);
}

int __wrap_uncompress(Bytef *dst, uLongf *length, const Bytef *src, uLong size)
{
    const size_t result = offload_decompress(RACKWRIGHT_DEFLATE, rackwright_decompress_zlib, dst,
                                             *length, src, size);
    if (rackwright_is_error(result)) return __real_uncompress(dst, length, src, size);
    *length = result;
    return Z_OK;
}
