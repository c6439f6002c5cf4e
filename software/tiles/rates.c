/* How fast tiles are simulated: of so many open tiles, some have requests all the time, for a number of cycles.
 *
 *     rates TILES BUSY CYCLES works|sleeps
 *
 * Each request has a unit read a buffer of text. A hart that sleeps looks at the tiles every
 * 100 microseconds, one that works all the time. A line of numbers says what came of it: cycles, and completed requests. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "rackwright/queue.h"
#include "rackwright/rocc.h"
#include "rackwright/status.h"

enum { MOST_TILES = 8, BYTES = 1024, ROOM = 4 * BYTES, UNDER_WAY = 8, PLACES = 16 };

static unsigned char from[BYTES] __attribute__((aligned(64))), to[MOST_TILES][ROOM] __attribute__((aligned(64)));
static rw_queue *asked[MOST_TILES], *ended[MOST_TILES];
static size_t under_way[MOST_TILES];

/* Takes the endings of a tile, and gives it as many requests; returns the number of endings, or -1 if a request has failed. */
static long serve(unsigned tile)
{
    rw_ending endings[PLACES];
    const size_t taken = rw_queue_try_pop_many(ended[tile], endings, PLACES);
    for (size_t i = 0; i < taken; i++)
        if (endings[i].status != RACKWRIGHT_OK) return -1;
    under_way[tile] -= taken;
    while (under_way[tile] < UNDER_WAY) {
        const rw_descriptor descriptor = {(uintptr_t)from, BYTES, (uintptr_t)to[tile], ROOM, 1, 0, 0, 0};
        if (!rw_queue_try_push(asked[tile], &descriptor)) break;
        under_way[tile]++;
    }
    return (long)taken;
}

int main(int count, char **words)
{
    if (count != 5) return 2;
    const unsigned tiles = (unsigned)strtoul(words[1], NULL, 10), busy = (unsigned)strtoul(words[2], NULL, 10);
    const uint64_t cycles = strtoull(words[3], NULL, 10);
    const bool sleeps = strcmp(words[4], "sleeps") == 0;
    const struct timespec rest = {0, 100000};
    if (tiles > MOST_TILES || busy > tiles) return 2;
    for (size_t i = 0; i < BYTES; i++) from[i] = "the quick brown fox jumps over the lazy dog, and "[i * i % 49];
    for (unsigned tile = 0; tile < tiles; tile++) {
        asked[tile] = rw_queue_create(PLACES, sizeof(rw_descriptor)), ended[tile] = rw_queue_create(PLACES, sizeof(rw_ending));
        rw_tile_open(tile, asked[tile], ended[tile]);
    }
    uint64_t done = 0;
    const uint64_t begin = rackwright_cycles();
    while (rackwright_cycles() - begin < cycles) {
        if (sleeps) nanosleep(&rest, NULL);
        rw_ending none;
        for (unsigned tile = busy; tile < tiles; tile++)
            if (rw_queue_try_pop(ended[tile], &none)) return 1;
        for (unsigned tile = 0; tile < busy; tile++) {
            const long taken = serve(tile);
            if (taken < 0) return 1;
            done += (uint64_t)taken;
        }
    }
    printf("%lu %lu\n", (unsigned long)(rackwright_cycles() - begin), (unsigned long)done);
    return 0;
}
