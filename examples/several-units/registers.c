/* Decompresses standard input, which is Snappy, by a unit behind registers.
 *
 *     ./rw units decompressor.yaml --header units.h */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "rackwright/registers.h"
#include "rackwright/rocc.h"
#include "rackwright/status.h"
#include "units.h"

enum { MOST = 1 << 20 };

static void command(uint64_t funct, uint64_t rs1, uint64_t rs2)
{
    rackwright_register_command(SNAPPY_DECOMPRESS_REGISTERS, SNAPPY_DECOMPRESS_CUSTOM, funct, rs1, rs2);
}

static uint64_t query(uint64_t funct)
{
    return rackwright_register_query(SNAPPY_DECOMPRESS_REGISTERS, SNAPPY_DECOMPRESS_CUSTOM, funct);
}

int main(void)
{
    uint8_t *packed = malloc(2 * MOST), *plain = malloc(MOST);
    if (packed == NULL || plain == NULL) return 2;
    const size_t bytes = fread(packed, 1, 2 * MOST, stdin);

    rackwright_fence();
    command(SNAPPY_DECOMPRESS_SRC, (uintptr_t)packed, bytes);
    command(SNAPPY_DECOMPRESS_LIMIT, MOST, 0);
    command(SNAPPY_DECOMPRESS_DEST_AND_START, (uintptr_t)plain, 0);
    (void)query(SNAPPY_DECOMPRESS_CHECK_COMPLETION);
    rackwright_fence();
    if (query(SNAPPY_DECOMPRESS_STATUS) != RACKWRIGHT_OK) return 1;
    fwrite(plain, 1, query(SNAPPY_DECOMPRESS_OUTPUT_BYTES), stdout);
    return 0;
}
