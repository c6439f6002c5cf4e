/* Counts the one bits of a buffer twice, by the core and by the unit beside it, and compares. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "rackwright/rocc.h"
#include "rackwright/status.h"

enum { BYTES = 64 * 1024 };

static uint64_t count_by_core(const uint8_t *data, size_t bytes)
{
    uint64_t total = 0;
    for (size_t i = 0; i < bytes; i++) total += (uint64_t)__builtin_popcount(data[i]);
    return total;
}

static uint64_t count_by_unit(const uint8_t *data, size_t bytes)
{
    rackwright_fence();
    RACKWRIGHT_COMMAND(3, 0, data, bytes);
    return RACKWRIGHT_QUERY(3, 1);
}

int main(void)
{
    uint8_t *data = malloc(BYTES + 3);
    if (data == NULL) return 2;
    uint32_t state = 1;
    for (size_t i = 0; i < BYTES + 3; i++) {
        state = state * 1664525 + 1013904223;
        data[i] = (uint8_t)(state >> 24);
    }
    uint8_t *odd = data + 3; /* any alignment will do */

    uint64_t start = rackwright_cycles();
    const uint64_t by_core = count_by_core(odd, BYTES);
    const uint64_t core_cycles = rackwright_cycles() - start;

    start = rackwright_cycles();
    const uint64_t by_unit = count_by_unit(odd, BYTES);
    const uint64_t unit_cycles = rackwright_cycles() - start;
    const rackwright_status status = (rackwright_status)RACKWRIGHT_QUERY(3, 2);

    printf("core: %lu ones in %lu cycles\n", (unsigned long)by_core, (unsigned long)core_cycles);
    printf("unit: %lu ones in %lu cycles, %s\n", (unsigned long)by_unit, (unsigned long)unit_cycles,
           rackwright_status_name(status));
    free(data);
    return by_core == by_unit && status == RACKWRIGHT_OK ? 0 : 1;
}
