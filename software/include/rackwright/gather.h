/* Elements of a table by a sequence of indices, fetched by the unit `gather` ahead of the program.
 *
 * The program describes a table, says where the indices are and how many, and takes the elements one after the other,
 * in the order of the indices. The unit reads memory as it is when it comes to an element: what the program writes into
 * the table meanwhile may or may not be seen. */
#ifndef RACKWRIGHT_GATHER_H
#define RACKWRIGHT_GATHER_H

#include <stddef.h>
#include <stdint.h>

#include "rackwright/gather_commands.h"
#include "rackwright/rocc.h"

/* What rw_gather_problem answers. */
enum rw_gather_problem {
    RW_GATHER_NO_PROBLEM,
    RW_GATHER_FAULT,       /* an index or an element is in no memory */
    RW_GATHER_MISSING,     /* more elements were taken than there are indices */
    RW_GATHER_UNSUPPORTED, /* a shape that there is not, or more sequences than may wait */
};

/* The table of the sequences that follow: elements of 1, 2, 4, 8, 16 or 32 bytes, indices of 4 or 8. */
static inline void rw_gather_table(const void *table, size_t element_bytes, size_t index_bytes)
{
    RACKWRIGHT_COMMAND(GATHER_CUSTOM, GATHER_TABLE, table, element_bytes | index_bytes << 8);
}

/* Elements of these indices are wanted next. */
static inline void rw_gather(const void *indices, size_t count)
{
    RACKWRIGHT_COMMAND(GATHER_CUSTOM, GATHER_GATHER, indices, count);
}

/* Elements of these indices are brought into the cache that harts share. */
static inline void rw_gather_prefetch(const void *indices, size_t count)
{
    RACKWRIGHT_COMMAND(GATHER_CUSTOM, GATHER_PREFETCH, indices, count);
}

/* The next element, or the next 8 bytes of one that has more. */
static inline uint64_t rw_gather_next(void) { return RACKWRIGHT_QUERY(GATHER_CUSTOM, GATHER_NEXT); }

static inline double rw_gather_next_double(void)
{
    union {
        uint64_t bits;
        double value;
    } word = {rw_gather_next()};
    return word.value;
}

/* Forgets all that was asked for. */
static inline void rw_gather_stop(void) { (void)RACKWRIGHT_QUERY(GATHER_CUSTOM, GATHER_STOP); }

/* Why elements since the last question may be wrong. */
static inline enum rw_gather_problem rw_gather_problem(void)
{
    return (enum rw_gather_problem)RACKWRIGHT_QUERY(GATHER_CUSTOM, GATHER_PROBLEM);
}

#endif
