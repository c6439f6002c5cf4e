/* The sum of some elements of a table, which the unit `gather` fetches ahead. */
#include <stdio.h>
#include <stdlib.h>

#include "rackwright/gather.h"

enum { TABLE = 1 << 16, WANTED = 1000 };

int main(void)
{
    double *table = malloc(TABLE * sizeof *table);
    uint32_t *indices = malloc(WANTED * sizeof *indices);
    if (table == NULL || indices == NULL) return 1;
    for (size_t i = 0; i < TABLE; i++) table[i] = (double)i;
    for (size_t i = 0; i < WANTED; i++) indices[i] = (uint32_t)(i * 7919 % TABLE);

    rw_gather_table(table, sizeof *table, sizeof *indices);
    rw_gather(indices, WANTED);
    double sum = 0, expected = 0;
    for (size_t i = 0; i < WANTED; i++) sum += rw_gather_next_double();

    for (size_t i = 0; i < WANTED; i++) expected += table[indices[i]];
    printf("%.0f, and by loads %.0f; %s\n", sum, expected, rw_gather_problem() == RW_GATHER_NO_PROBLEM ? "no problem" : "a problem");
    return 0;
}
