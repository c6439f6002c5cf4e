/* Keys are looked up, and a range of keys is summed, by the unit `ordered-index`. */
#include <stdio.h>
#include <stdlib.h>

#include "rackwright/ordered.h"

enum { KEYS = 1000, CACHE_NODES = 256 };

int main(void)
{
    const size_t bytes = (KEYS + 64) * sizeof(rw_ordered_node);
    rw_ordered *tree = aligned_alloc(64, bytes);
    if (tree == NULL || !rw_ordered_format(tree, bytes)) return 1;
    for (uint64_t i = 0; i < KEYS; i++)
        if (!rw_ordered_insert(tree, 10 * (i * 7919 % KEYS), (uint32_t)(i * 7919 % KEYS))) return 1;

    const rw_ordered_query queries[] = {{50, 50}, {51, 51}, {100, 199}, {0, RW_ORDERED_END}};
    enum { QUERIES = sizeof queries / sizeof *queries };
    rw_ordered_answer answers[QUERIES];
    rw_ordered_open(tree, rw_ordered_choose(tree, CACHE_NODES, 0));
    rw_ordered_start(queries, QUERIES, answers);
    const size_t answered = rw_ordered_wait();

    for (size_t i = 0; i < answered; i++)
        printf("%u keys, the first has %u, all %lu\n", answers[i].count, answers[i].first, (unsigned long)answers[i].sum);
    return 0;
}
