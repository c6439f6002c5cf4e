/* Memory from the unit `allocate`, by one command a call.
 *
 * The hart waits for the answer to an allocation, and for nothing when it frees: the unit looks after the block while
 * the hart goes on. A program has one heap, and one hart uses it at a time. */
#ifndef RACKWRIGHT_ALLOCATE_H
#define RACKWRIGHT_ALLOCATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rackwright/allocate_commands.h"
#include "rackwright/rocc.h"

/* What ALLOCATE_PROBLEM answers in its lowest byte. */
enum rw_allocate_problem {
    RW_ALLOCATE_NO_PROBLEM,
    RW_ALLOCATE_FOREIGN, /* no block of the heap begins there */
    RW_ALLOCATE_TWICE,   /* the block is free already */
    RW_ALLOCATE_BROKEN,  /* the program has written over a header */
    RW_ALLOCATE_FAULT,   /* memory is not there */
};

/* Makes `bytes` from `memory` on the heap, and forgets the one before; both are multiples of 16. Whether they can be. */
static inline bool rw_heap(void *memory, size_t bytes)
{
    return RACKWRIGHT_CALL(ALLOCATE_CUSTOM, ALLOCATE_HEAP, memory, bytes) == 0;
}

/* `bytes` at a multiple of 16; NULL if there are none. */
static inline void *rw_allocate(size_t bytes)
{
    return (void *)RACKWRIGHT_CALL(ALLOCATE_CUSTOM, ALLOCATE_ALLOCATE, bytes, 0);
}

/* Gives back what rw_allocate gave, or does nothing for NULL. */
static inline void rw_free(void *memory)
{
    RACKWRIGHT_COMMAND(ALLOCATE_CUSTOM, ALLOCATE_FREE, memory, 0);
}

/* Joins all free neighbours, also those that are kept for the next call. */
static inline void rw_trim(void)
{
    (void)RACKWRIGHT_QUERY(ALLOCATE_CUSTOM, ALLOCATE_TRIM);
}

/* The first call since the last question that could not be obeyed, and its address. */
static inline enum rw_allocate_problem rw_problem(uint64_t *address)
{
    uint64_t told = RACKWRIGHT_QUERY(ALLOCATE_CUSTOM, ALLOCATE_PROBLEM);
    *address = told >> 8;
    return (enum rw_allocate_problem)(told & 0xff);
}

#endif
