/* uncompress() of a program by the unit: link it with -Wl,--wrap=uncompress, this archive and the
 * official zlib, which gets what the unit refuses. */
#include <zlib.h>

#include "rackwright_compression.h"

int __real_uncompress(Bytef *dst, uLongf *length, const Bytef *src, uLong size);

int __wrap_uncompress(Bytef *dst, uLongf *length, const Bytef *src, uLong size)
{
    const size_t result = rackwright_decompress_zlib(dst, *length, src, size);
    if (rackwright_is_error(result)) return __real_uncompress(dst, length, src, size);
    *length = result;
    return Z_OK;
}
