/* Copies a buffer by the core and by the DMA beside it, and compares. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rackwright/rocc.h"
#include "units.h" /* made by: ./rw units manifest.json --header units.h */

enum { BYTES = 64 * 1024, START = 1, ERROR = 8 };

static volatile uint32_t *reg(unsigned offset)
{
    return (volatile uint32_t *)(uintptr_t)(COPY_DMA_REGISTERS + offset);
}

static uint32_t copy_by_unit(void *to, const void *from, uint32_t bytes)
{
    rackwright_fence();
    *reg(COPY_DMA_SOURCE) = (uint32_t)(uintptr_t)from;
    *reg(COPY_DMA_SOURCE_HIGH) = (uint32_t)((uintptr_t)from >> 32);
    *reg(COPY_DMA_DESTINATION) = (uint32_t)(uintptr_t)to;
    *reg(COPY_DMA_DESTINATION_HIGH) = (uint32_t)((uintptr_t)to >> 32);
    *reg(COPY_DMA_BYTES) = bytes;
    *reg(COPY_DMA_CONTROL) = START;
    (void)*(volatile uint64_t *)COPY_DMA_INTERRUPT; /* waits for it */
    rackwright_fence();
    return *reg(COPY_DMA_CONTROL);
}

int main(void)
{
    uint8_t *from = aligned_alloc(64, BYTES), *to = aligned_alloc(64, BYTES), *by_core = malloc(BYTES);
    if (from == NULL || to == NULL || by_core == NULL) return 2;
    uint32_t state = 1;
    for (size_t i = 0; i < BYTES; i++) {
        state = state * 1664525 + 1013904223;
        from[i] = (uint8_t)(state >> 24);
    }
    memset(to, 0, BYTES);

    uint64_t start = rackwright_cycles();
    for (size_t i = 0; i < BYTES; i++) ((volatile uint8_t *)by_core)[i] = from[i];
    const uint64_t core_cycles = rackwright_cycles() - start;

    start = rackwright_cycles();
    const uint32_t control = copy_by_unit(to, from, BYTES);
    const uint64_t unit_cycles = rackwright_cycles() - start;

    const int equal = memcmp(to, by_core, BYTES) == 0;
    printf("core: %lu cycles, byte by byte\n", (unsigned long)core_cycles);
    printf("unit: %lu cycles, %s\n", (unsigned long)unit_cycles, equal ? "equal" : "different");
    const int refused = (copy_by_unit(to, from, 3) & ERROR) != 0;
    printf("3 bytes: %s\n", refused ? "refused" : "taken");
    return equal && !(control & ERROR) && refused ? 0 : 1;
}
