/* A program that knows nothing of units: it compresses its standard input by the official ZStd's
 * functions, decompresses the result, and compares.
 *
 * Compiled as it is, the library does the work on the core. With
 * compile_program([...], by_units=["zstd"]), the linker gives both calls to the units beside it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <zstd.h>

#include "rackwright/rocc.h"

enum { MOST = 1 << 24 };

int main(void)
{
    char *plain = malloc(MOST), *again = malloc(MOST);
    const size_t size = fread(plain, 1, MOST, stdin);
    const size_t room = 64 + size + size / 6; /* enough for the unit, and more than ZSTD_compressBound() */
    char *packed = malloc(room);

    const uint64_t start = rackwright_cycles();
    const size_t length = ZSTD_compress(packed, room, plain, size, 3);
    const uint64_t compressed = rackwright_cycles();
    const size_t back = ZSTD_decompress(again, size, packed, length);
    const uint64_t decompressed = rackwright_cycles();

    if (ZSTD_isError(length) || ZSTD_isError(back) || back != size || memcmp(plain, again, size) != 0) {
        printf("wrong\n");
        return 1;
    }
    printf("%zu -> %zu bytes; compressed in %llu cycles, decompressed in %llu\n", size, length,
           (unsigned long long)(compressed - start), (unsigned long long)(decompressed - compressed));
    /* What is not ZStd at all is refused in the library's words, whoever was asked. */
    printf("%s\n", ZSTD_getErrorName(ZSTD_decompress(again, MOST, "not a frame", 11)));
    return 0;
}
