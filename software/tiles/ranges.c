/* Sums of ranges of keys by `ordered-index` on tile 0. Prints the right answers, of how many, and what becomes of half a query. */
#include <stdio.h>
#include <stdlib.h>

#include "rackwright/ordered.h"
#include "rackwright/queue.h"
#include "rackwright/status.h"

enum { KEYS = 2000, QUERIES = 64, APART = 16 };

static void open_tile(const rw_ordered *tree, rw_queue *asked, rw_queue *ended)
{
    rw_tile_set(0, ORDERED_INDEX_NODES, (uintptr_t)tree);
    rw_tile_set(0, ORDERED_INDEX_ROOT, tree->root | (uint64_t)tree->height << 32);
    rw_tile_set(0, ORDERED_INDEX_NODE_LIMIT, tree->used);
    rw_tile_set(0, ORDERED_INDEX_NEAR, RW_ORDERED_NO_LEVEL);
    rw_tile_set(0, ORDERED_INDEX_WIDE, RW_ORDERED_NO_LEVEL);
    rw_tile_set(0, ORDERED_INDEX_TREE_VERSION, tree->version);
    rw_tile_open(0, asked, ended);
}

static rw_ordered_query queries[QUERIES] __attribute__((aligned(64)));
static rw_ordered_answer answers[QUERIES] __attribute__((aligned(64)));

static rw_ending answered(rw_queue *asked, rw_queue *ended, size_t query_bytes)
{
    const rw_descriptor descriptor = {(uintptr_t)queries, query_bytes, (uintptr_t)answers, sizeof answers, 1, 0, 0, 0};
    rw_ending ending;
    rw_queue_push(asked, &descriptor);
    if (!rw_queue_pop(ended, &ending) || ending.tag != 1) exit(3);
    return ending;
}

/* Key `n` APART has the value n. */
static bool is_right(rw_ordered_query query, rw_ordered_answer answer)
{
    const uint64_t first = (query.low + APART - 1) / APART, last = query.high / APART;
    return answer.count == last - first + 1 && answer.first == first && answer.sum == (first + last) * (last - first + 1) / 2;
}

int main(void)
{
    const size_t bytes = KEYS * sizeof(rw_ordered_node);
    rw_ordered *tree = aligned_alloc(64, bytes);
    if (!tree || !rw_ordered_format(tree, bytes)) return 1;
    for (uint64_t i = 0; i < KEYS; i++) {
        const uint64_t key = i * 7 % KEYS;
        if (!rw_ordered_insert(tree, key * APART, (uint32_t)key)) return 1;
    }
    for (uint64_t i = 0; i < QUERIES; i++) queries[i] = (rw_ordered_query){i * 100, i * 300};

    rw_queue *asked = rw_queue_create(4, sizeof(rw_descriptor)), *ended = rw_queue_create(4, sizeof(rw_ending));
    open_tile(tree, asked, ended);
    rw_ending ending = answered(asked, ended, sizeof queries);
    if (ending.status != RACKWRIGHT_OK || ending.output_bytes != sizeof answers) return 3;
    unsigned right = 0;
    for (unsigned i = 0; i < QUERIES; i++) right += is_right(queries[i], answers[i]);
    printf("%u of %d\n", right, QUERIES);
    ending = answered(asked, ended, sizeof *queries / 2);
    printf("%s\n", rackwright_status_name((rackwright_status)ending.status));
    return 0;
}
