/* What the loops over sparse structures share: how elements are fetched, their random structure, and the prefetch. */
#ifndef RACKWRIGHT_GATHER_WAYS_H
#define RACKWRIGHT_GATHER_WAYS_H

#include <stdint.h>

typedef enum { LOADS, PREFETCH, THREADS, UNIT } way;

static uint32_t next_random(void)
{
    static uint64_t state = 1;
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(state >> 33);
}

static inline void prefetch(const void *address) { __asm__ volatile(".insn i 0x13, 6, x0, %0, 1" : : "r"(address)); }

#endif
