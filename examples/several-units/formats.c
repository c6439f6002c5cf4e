/* Compresses standard input by the units of two formats that share their opcodes, and decompresses what came of it.
 *
 *     ./rw units snappy zstd --header units.h */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rackwright/rocc.h"
#include "rackwright/status.h"
#include "units.h"

enum { MOST = 1 << 20 };

/* One operation of UNIT, which units.h has the constants of; gives the bytes of its output, 0 if it fails. */
#define OPERATE(UNIT, source, bytes, target, room)                                                                     \
    (__extension__({                                                                                                   \
        rackwright_fence();                                                                                            \
        RACKWRIGHT_COMMAND(UNIT##_CUSTOM, UNIT##_SRC, source, bytes);                                                  \
        RACKWRIGHT_COMMAND(UNIT##_CUSTOM, UNIT##_LIMIT, room, 0);                                                      \
        RACKWRIGHT_COMMAND(UNIT##_CUSTOM, UNIT##_DEST_AND_START, target, 0);                                           \
        (void)RACKWRIGHT_QUERY(UNIT##_CUSTOM, UNIT##_CHECK_COMPLETION);                                                \
        rackwright_fence();                                                                                            \
        const uint64_t ended = RACKWRIGHT_QUERY(UNIT##_CUSTOM, UNIT##_STATUS);                                         \
        ended == RACKWRIGHT_OK ? (size_t)RACKWRIGHT_QUERY(UNIT##_CUSTOM, UNIT##_OUTPUT_BYTES) : (size_t)0;             \
    }))

int main(void)
{
    uint8_t *plain = malloc(MOST), *packed = malloc(2 * MOST), *again = malloc(MOST);
    if (plain == NULL || packed == NULL || again == NULL) return 2;
    const size_t bytes = fread(plain, 1, MOST, stdin);

    const size_t by_snappy = OPERATE(SNAPPY_COMPRESS, plain, bytes, packed, 2 * MOST);
    const size_t from_snappy = OPERATE(SNAPPY_DECOMPRESS, packed, by_snappy, again, MOST);
    const int snappy = from_snappy == bytes && memcmp(plain, again, bytes) == 0;

    const size_t by_zstd = OPERATE(ZSTD_COMPRESS, plain, bytes, packed, 2 * MOST);
    const size_t from_zstd = OPERATE(ZSTD_DECOMPRESS, packed, by_zstd, again, MOST);
    const int zstd = from_zstd == bytes && memcmp(plain, again, bytes) == 0;

    printf("%zu bytes: %zu by snappy, %zu by zstd\n", bytes, by_snappy, by_zstd);
    return snappy && zstd ? 0 : 1;
}
