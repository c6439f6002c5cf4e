/* Queries of an ordered index, answered by the unit `ordered-index` or by a program on the hart (rw bench ordered).
 *
 * The words: `unit` or `program`, the queries, queries of an operation, keys, nodes of the unit's cache, and one or more draws of keys
 * and ranges: `zipf` (by Zipf's law with an exponent of 0.99, popular keys anywhere), `neighbours` (the same, and popular keys are next
 * to each other), `join` (each fourth key, in order), `scan` (ranges of 1 to 32 keys that begin at a key by Zipf's law). Half of the
 * queries warm the caches; prints cycles and instructions of the other half, its right answers, and the levels of the tree. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "rackwright/ordered.h"

enum { MOST_KEYS = 1 << 18, LONGEST_SCAN = 32, PER_JOIN = 4 };

static uint64_t state = 52;
static double below[MOST_KEYS];
static uint64_t keys[MOST_KEYS], sums[MOST_KEYS + 1];
static uint32_t values[MOST_KEYS], order[MOST_KEYS];

/* xorshift64* (Vigna 2016). */
static uint64_t drawn(void)
{
    state ^= state >> 12, state ^= state << 25, state ^= state >> 27;
    return state * UINT64_C(0x2545f4914f6cdd1d);
}

/* Sums of the shares of ranks, so that a rank is drawn by a search. */
static void prepare(size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++) below[i] = sum += pow((double)(i + 1), -0.99);
}

static size_t rank_drawn(size_t count)
{
    const double at = (double)(drawn() >> 11) * 0x1p-53 * below[count - 1];
    size_t low = 0, high = count - 1;
    while (low < high) {
        const size_t middle = (low + high) / 2;
        if (below[middle] > at) high = middle;
        else low = middle + 1;
    }
    return low;
}

/* Keys in order, inserted in another order. */
static rw_ordered *filled(size_t count)
{
    const size_t bytes = (count + 64) * sizeof(rw_ordered_node);
    rw_ordered *tree = aligned_alloc(64, bytes);
    if (!tree || !rw_ordered_format(tree, bytes)) return NULL;
    for (size_t i = 0; i < count; i++) {
        keys[i] = (uint64_t)i << 40 | drawn() >> 24, values[i] = (uint32_t)drawn(), sums[i + 1] = sums[i] + values[i];
        const size_t other = drawn() % (i + 1);
        order[i] = order[other], order[other] = (uint32_t)i;
    }
    for (size_t i = 0; i < count; i++)
        if (!rw_ordered_insert(tree, keys[order[i]], values[order[i]])) return NULL;
    return tree;
}

/* The first key and the number of keys of a query. */
static size_t chosen(const char *draw, size_t number, size_t count, size_t *length)
{
    *length = 1;
    if (!strcmp(draw, "join")) return number * PER_JOIN % count;
    const size_t rank = rank_drawn(count);
    if (!strcmp(draw, "neighbours")) return (rank + count / 3) % count;
    if (!strcmp(draw, "scan")) *length = 1 + drawn() % LONGEST_SCAN;
    const size_t first = order[rank];
    if (*length > count - first) *length = count - first;
    return first;
}

/* What is asked, and what the keys in order say to it. */
static void write_queries(const char *draw, size_t all, size_t count, rw_ordered_query *queries, rw_ordered_answer *expected)
{
    state = 52;
    for (size_t i = 0; i < all; i++) {
        size_t length;
        const size_t first = chosen(draw, i, count, &length);
        queries[i].low = keys[first], queries[i].high = keys[first + length - 1];
        expected[i].count = (uint32_t)length, expected[i].first = values[first], expected[i].sum = sums[first + length] - sums[first];
    }
}

int main(int argument_count, char **words)
{
    if (argument_count < 7) return 2;
    const bool by_unit = !strcmp(words[1], "unit");
    const size_t all = strtoul(words[2], NULL, 10), batch = strtoul(words[3], NULL, 10), count = strtoul(words[4], NULL, 10);
    const uint32_t cache_nodes = (uint32_t)strtoul(words[5], NULL, 10);
    if (!batch || !all || all % (2 * batch) || !count || count > MOST_KEYS) return 2;
    rw_ordered *tree = filled(count);
    rw_ordered_query *queries = aligned_alloc(64, all * sizeof *queries + 64);
    rw_ordered_answer *answers = aligned_alloc(64, all * sizeof *answers + 64), *expected = malloc(all * sizeof *expected);
    if (!tree || !queries || !answers || !expected) return 1;
    prepare(count);

    size_t wrong = 0;
    for (int draw = 6; draw < argument_count; draw++) {
        if (by_unit) rw_ordered_open(tree, rw_ordered_choose(tree, cache_nodes, !strcmp(words[draw], "join")));
        write_queries(words[draw], all, count, queries, expected);
        uint64_t start = 0, retired = 0;
        for (size_t i = 0; i < all; i += batch) {
            if (i == all / 2) start = rackwright_cycles(), retired = rackwright_instructions();
            if (by_unit) {
                rw_ordered_start(queries + i, batch, answers + i);
                if (rw_ordered_wait() != batch) return 1;
            } else {
                for (size_t j = i; j < i + batch; j++) answers[j] = rw_ordered_ask(tree, queries[j].low, queries[j].high);
            }
        }
        const uint64_t instructions = rackwright_instructions() - retired, cycles = rackwright_cycles() - start;
        size_t right = 0;
        for (size_t i = 0; i < all; i++) right += !memcmp(&answers[i], &expected[i], sizeof answers[i]);
        wrong += all - right;
        printf("%lu %lu %zu %u\n", (unsigned long)cycles, (unsigned long)instructions, right, tree->height + 1);
    }
    return wrong != 0;
}
