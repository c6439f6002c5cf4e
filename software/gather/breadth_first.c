/* Breadth-first search in a random graph whose table of distances is larger than caches: by loads alone, by software
 * prefetch, by two threads, and by the unit `gather`.
 *
 *     breadth_first bfs loads|prefetch|threads|unit
 *
 * The neighbours of a vertex are consecutive indices of the table of distances. Vertices are expanded in the order in
 * which they are found, so that whoever fetches ahead can be as far ahead as vertices are known. What was fetched ahead
 * may be older than the table: a vertex that seems new is looked up again. Measured is a stretch in which one lookup of
 * ten finds a new vertex, as in the mean of a whole search; loads alone lead up to it. A line of numbers says what came
 * of it: cycles, neighbours that were looked at, and the sum of the distances, which is the same by each way. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rackwright/gather.h"
#include "ways.h"

enum {
    VERTICES = 1 << 20, /* 8 MiB of distances: beyond the last-level cache */
    DEGREE = 10,
    FIRST = VERTICES / 100 * 23, /* e^-2.3 of all vertices are not found yet */
    EXPANDED = 2000,             /* vertices from there on whose neighbours are looked at */
    END = FIRST + EXPANDED,
    ELEMENTS = EXPANDED * DEGREE,
    DISTANCE = 2,  /* vertices that software prefetch is ahead */
    SEQUENCES = 4, /* vertices that the unit is ahead; as many sequences may wait there */
    RING = 1024,   /* elements that the thread that loads is ahead */
};

static uint32_t (*neighbours)[DEGREE];
static uint64_t *distances; /* 0: not found yet; the root has 1 */
static uint32_t found[VERTICES];
static size_t tail = 1; /* vertices in `found` */
static uint64_t ring[RING];
static _Alignas(64) atomic_size_t known; /* `tail`, for the thread that loads */
static _Alignas(64) atomic_size_t given;
static _Alignas(64) atomic_size_t taken;

/* The thread that loads: distances of the neighbours of each vertex that was found, into a ring. */
static void *load_ahead(void *unused)
{
    size_t vertices = 0, there = 0;
    for (size_t i = 0; i < ELEMENTS; i += DEGREE) {
        while (vertices <= FIRST + i / DEGREE) vertices = atomic_load_explicit(&known, memory_order_acquire);
        while (i + DEGREE - there > RING) there = atomic_load_explicit(&taken, memory_order_acquire);
        const uint32_t *next = neighbours[found[FIRST + i / DEGREE]];
        for (size_t n = 0; n < DEGREE; n++)
            ring[(i + n) % RING] = *(volatile uint64_t *)&distances[next[n]];
        atomic_store_explicit(&given, i + DEGREE, memory_order_release);
    }
    return unused;
}

static uint64_t from_ring(size_t i)
{
    static size_t there;
    while (there <= i) there = atomic_load_explicit(&given, memory_order_acquire);
    return ring[i % RING];
}

/* Asks for what the vertices need that come next and are known. */
static inline __attribute__((always_inline)) void fetch_ahead(way by, size_t vertex)
{
    static size_t asked = FIRST;
    if (by == PREFETCH && vertex + DISTANCE < tail)
        for (size_t n = 0; n < DEGREE; n++) prefetch(&distances[neighbours[found[vertex + DISTANCE]][n]]);
    if (by == UNIT)
        for (; asked < tail && asked < END && asked < vertex + SEQUENCES; asked++)
            rw_gather(neighbours[found[asked]], DEGREE);
}

static inline __attribute__((always_inline)) void search_by(way by, size_t from, size_t to)
{
    for (size_t vertex = from; vertex < to; vertex++) {
        fetch_ahead(by, vertex);
        const uint32_t *next = neighbours[found[vertex]];
        uint64_t distance = distances[found[vertex]] + 1;
        for (size_t n = 0; n < DEGREE; n++) {
            uint64_t seen = by == UNIT      ? rw_gather_next()
                            : by == THREADS ? from_ring((vertex - FIRST) * DEGREE + n)
                                            : distances[next[n]];
            if (seen != 0 || distances[next[n]] != 0) continue;
            distances[next[n]] = distance;
            found[tail++] = next[n];
        }
        if (by == THREADS) {
            atomic_store_explicit(&known, tail, memory_order_release);
            atomic_store_explicit(&taken, (vertex + 1 - FIRST) * DEGREE, memory_order_release);
        }
    }
}

static void search(const char *by)
{
    if (strcmp(by, "loads") == 0) search_by(LOADS, FIRST, END);
    else if (strcmp(by, "prefetch") == 0) search_by(PREFETCH, FIRST, END);
    else if (strcmp(by, "unit") == 0) {
        rw_gather_table(distances, sizeof *distances, sizeof **neighbours);
        search_by(UNIT, FIRST, END);
    } else {
        pthread_t loader;
        atomic_store(&known, tail);
        if (pthread_create(&loader, NULL, load_ahead, NULL) != 0) exit(1);
        search_by(THREADS, FIRST, END);
        pthread_join(loader, NULL);
    }
}

int main(int count, char **words)
{
    if (count != 3) return 2;
    neighbours = aligned_alloc(4096, VERTICES * sizeof *neighbours);
    distances = aligned_alloc(4096, VERTICES * sizeof *distances);
    if (neighbours == NULL || distances == NULL) return 1;
    for (size_t vertex = 0; vertex < VERTICES; vertex++)
        for (size_t n = 0; n < DEGREE; n++) neighbours[vertex][n] = next_random() % VERTICES;
    memset(distances, 0, VERTICES * sizeof *distances);
    distances[found[0]] = 1;
    search_by(LOADS, 0, FIRST);
    uint64_t before = rackwright_cycles();
    search(words[2]);
    uint64_t cycles = rackwright_cycles() - before, sum = 0;
    for (size_t vertex = 0; vertex < VERTICES; vertex++) sum += distances[vertex];
    if (strcmp(words[2], "unit") == 0 && rw_gather_problem() != RW_GATHER_NO_PROBLEM) return 1;
    printf("%llu %d %llu\n", (unsigned long long)cycles, ELEMENTS, (unsigned long long)sum);
    return 0;
}
