/* snappy_compress() and snappy_uncompress() of a program by the units: link it with
 * -Wl,--wrap=snappy_compress,--wrap=snappy_uncompress, this archive and the official library, which
 * gets what the units refuse. */
#include <snappy-c.h>

#include "offload.h"

snappy_status __real_snappy_compress(const char *input, size_t input_length, char *compressed,
                                     size_t *compressed_length);
snappy_status __real_snappy_uncompress(const char *compressed, size_t compressed_length,
                                       char *uncompressed, size_t *uncompressed_length);

snappy_status __wrap_snappy_compress(const char *input, size_t input_length, char *compressed,
                                     size_t *compressed_length)
{
    const size_t result = offload_compress(RACKWRIGHT_SNAPPY, rackwright_compress_snappy, compressed,
                                           *compressed_length, input, input_length);
    if (rackwright_is_error(result)) {
        return __real_snappy_compress(input, input_length, compressed, compressed_length);
    }
    *compressed_length = result;
    return SNAPPY_OK;
}

snappy_status __wrap_snappy_uncompress(const char *compressed, size_t compressed_length,
                                       char *uncompressed, size_t *uncompressed_length)
{
    const size_t result =
        offload_decompress(RACKWRIGHT_SNAPPY, rackwright_decompress_snappy, uncompressed,
                           *uncompressed_length, compressed, compressed_length);
    if (rackwright_is_error(result)) {
        return __real_snappy_uncompress(compressed, compressed_length, uncompressed,
                                        uncompressed_length);
    }
    *uncompressed_length = result;
    return SNAPPY_OK;
}
