/* Loops over a sparse structure whose tables are larger than caches: by loads alone, by software prefetch, by two
 * threads, and by the unit `gather`.
 *
 *     kernels KERNEL loads|prefetch|threads|unit
 *
 * KERNEL is spmv (sparse matrix by vector), sdhp (sparse by dense, element by element) or spmm (sparse matrix by a
 * matrix of four columns). A line of numbers says what came of it: cycles, elements that were fetched by
 * index, and a sum that is the same by each way. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rackwright/gather.h"
#include "ways.h"

enum {
    ROWS = 2000,
    PER_ROW = 10,
    ELEMENTS = ROWS * PER_ROW,
    TABLE = 1 << 20, /* 8 MiB of doubles: beyond the last-level cache */
    COLUMNS = 4,
    DISTANCE = 16, /* elements that software prefetch is ahead */
    RING = 1024,   /* elements that the thread that loads is ahead */
    PUBLISHED = 16,
};

static uint32_t indices[ELEMENTS];
static double values[ELEMENTS], results[ROWS * COLUMNS], *table;
static double ring[RING];
static _Alignas(64) atomic_size_t given;
static _Alignas(64) atomic_size_t taken;

/* The thread that loads: elements of the table, in the order of the indices, into a ring. */
static void *load_ahead(void *unused)
{
    size_t there = 0;
    for (size_t i = 0; i < ELEMENTS; i++) {
        while (i - there >= RING) there = atomic_load_explicit(&taken, memory_order_acquire);
        ring[i % RING] = table[indices[i]];
        if ((i + 1) % PUBLISHED == 0) atomic_store_explicit(&given, i + 1, memory_order_release);
    }
    atomic_store_explicit(&given, ELEMENTS, memory_order_release);
    return unused;
}

/* The same for lines of the table. */
static void *load_lines(void *unused)
{
    size_t there = 0;
    for (size_t i = 0; i < ELEMENTS * COLUMNS; i += COLUMNS) {
        while (i + COLUMNS - there > RING) there = atomic_load_explicit(&taken, memory_order_acquire);
        const double *line = &table[indices[i / COLUMNS] * COLUMNS];
        for (size_t column = 0; column < COLUMNS; column++) ring[(i + column) % RING] = line[column];
        if ((i + COLUMNS) % PUBLISHED == 0) atomic_store_explicit(&given, i + COLUMNS, memory_order_release);
    }
    return unused;
}

static double from_ring(size_t i)
{
    static size_t known;
    while (known <= i) known = atomic_load_explicit(&given, memory_order_acquire);
    double value = ring[i % RING];
    if ((i + 1) % PUBLISHED == 0) atomic_store_explicit(&taken, i + 1, memory_order_release);
    return value;
}

/* Element `i` of those that the indices name; the way is constant where this is inlined. */
static inline __attribute__((always_inline)) double element(way by, size_t i)
{
    switch (by) {
    case THREADS: return from_ring(i);
    case UNIT: return rw_gather_next_double();
    case PREFETCH: prefetch(&table[indices[i + DISTANCE < ELEMENTS ? i + DISTANCE : i]]); break;
    case LOADS: break;
    }
    return table[indices[i]];
}

static inline __attribute__((always_inline)) void spmv_by(way by)
{
    for (size_t row = 0, i = 0; row < ROWS; row++) {
        double sum = 0;
        for (size_t end = i + PER_ROW; i < end; i++) sum += values[i] * element(by, i);
        results[row] = sum;
    }
}

static inline __attribute__((always_inline)) void sdhp_by(way by)
{
    for (size_t i = 0; i < ELEMENTS; i++) values[i] *= element(by, i);
}

static inline __attribute__((always_inline)) void spmm_by(way by)
{
    for (size_t row = 0, i = 0; row < ROWS; row++) {
        double sums[COLUMNS] = {0};
        for (size_t end = i + PER_ROW; i < end; i++) {
            const double *line = &table[indices[i] * COLUMNS];
            if (by == PREFETCH && i + DISTANCE < ELEMENTS) prefetch(&table[indices[i + DISTANCE] * COLUMNS]);
            for (size_t column = 0; column < COLUMNS; column++)
                sums[column] += values[i] * (by == UNIT      ? rw_gather_next_double()
                                             : by == THREADS ? from_ring(i * COLUMNS + column)
                                                             : line[column]);
        }
        memcpy(&results[row * COLUMNS], sums, sizeof sums);
    }
}

static inline __attribute__((always_inline)) void run(const char *kernel, way by)
{
    if (strcmp(kernel, "spmv") == 0) spmv_by(by);
    else if (strcmp(kernel, "sdhp") == 0) sdhp_by(by);
    else spmm_by(by);
}

static void run_by(const char *kernel, const char *way)
{
    if (strcmp(way, "loads") == 0) run(kernel, LOADS);
    else if (strcmp(way, "prefetch") == 0) run(kernel, PREFETCH);
    else if (strcmp(way, "unit") == 0) {
        rw_gather_table(table, strcmp(kernel, "spmm") == 0 ? COLUMNS * sizeof *table : sizeof *table, sizeof *indices);
        rw_gather(indices, ELEMENTS);
        run(kernel, UNIT);
    } else {
        pthread_t loader;
        if (pthread_create(&loader, NULL, strcmp(kernel, "spmm") == 0 ? load_lines : load_ahead, NULL) != 0) exit(1);
        run(kernel, THREADS);
        pthread_join(loader, NULL);
    }
}

int main(int count, char **words)
{
    if (count != 3) return 2;
    table = aligned_alloc(4096, TABLE * sizeof *table);
    if (table == NULL) return 1;
    for (size_t i = 0; i < TABLE; i++) table[i] = (double)(next_random() % 1000);
    for (size_t i = 0; i < ELEMENTS; i++) {
        indices[i] = next_random() % (strcmp(words[1], "spmm") == 0 ? TABLE / COLUMNS : TABLE);
        values[i] = (double)(next_random() % 100);
    }
    uint64_t before = rackwright_cycles();
    run_by(words[1], words[2]);
    uint64_t cycles = rackwright_cycles() - before;
    double sum = 0;
    for (size_t i = 0; i < ROWS * COLUMNS; i++) sum += results[i];
    for (size_t i = 0; i < ELEMENTS; i++) sum += values[i];
    if (strcmp(words[2], "unit") == 0 && rw_gather_problem() != RW_GATHER_NO_PROBLEM) return 1;
    printf("%llu %d %.0f\n", (unsigned long long)cycles, ELEMENTS, sum);
    return 0;
}
