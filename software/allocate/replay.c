/* What memory costs: cycles of a hart for the calls of a recorded program, or for blocks beside so many others.
 *
 *     replay library|unit trace FILE      calls as record.c has written them
 *     replay library|unit live BLOCKS     blocks of random sizes come and go while BLOCKS are allocated
 *
 * A line of numbers says what came of it: calls, cycles of all, the median and the 99th percentile of one. Each block
 * gets a mark of its own at both ends, which is looked for when it goes. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rackwright/allocate.h"

enum { HEAP_BYTES = 1 << 28, MOST_CALLS = 1 << 20, TIMED = 4000 };

struct block {
    uint64_t *memory;
    size_t bytes;
};

static uint32_t calls[MOST_CALLS], cycles[MOST_CALLS];
static struct block blocks[MOST_CALLS];
static bool by_unit;

static inline void *take(size_t bytes) { return by_unit ? rw_allocate(bytes) : malloc(bytes); }

static inline void leave(void *memory)
{
    if (by_unit) rw_free(memory);
    else free(memory);
}

static void fail(const char *reason)
{
    fprintf(stderr, "replay: %s\n", reason);
    exit(1);
}

/* Of a block that is too small for marks at both ends, nothing is marked. */
static void mark(const struct block *block, uint64_t value)
{
    if (block->bytes < 16) return;
    block->memory[0] = value;
    block->memory[block->bytes / 8 - 1] = ~value;
}

static void look(const struct block *block, uint64_t value)
{
    if (block->bytes < 16) return;
    if (block->memory[0] != value || block->memory[block->bytes / 8 - 1] != ~value) fail("a block was written over");
}

/* The number `index` gets `bytes`; cycles of that. */
static uint32_t allocate(size_t index, size_t bytes)
{
    uint64_t before = rackwright_cycles();
    void *memory = take(bytes);
    uint32_t spent = (uint32_t)(rackwright_cycles() - before);
    if (memory == NULL || ((uintptr_t)memory & 15) != 0) fail("no memory");
    blocks[index] = (struct block){memory, bytes};
    mark(&blocks[index], index);
    return spent;
}

static uint32_t release(size_t index)
{
    look(&blocks[index], index);
    uint64_t before = rackwright_cycles();
    leave(blocks[index].memory);
    return (uint32_t)(rackwright_cycles() - before);
}

static int earlier(const void *a, const void *b)
{
    uint32_t first = *(const uint32_t *)a, second = *(const uint32_t *)b;
    return (first > second) - (first < second);
}

static void report(size_t count)
{
    uint64_t all = 0;
    for (size_t i = 0; i < count; i++) all += cycles[i];
    qsort(cycles, count, sizeof *cycles, earlier);
    printf("%zu %llu %u %u\n", count, (unsigned long long)all, cycles[count / 2], cycles[count * 99 / 100]);
}

static void replay(const char *path)
{
    FILE *file = fopen(path, "rb");
    if (file == NULL) fail("the trace cannot be opened");
    size_t count = fread(calls, sizeof *calls, MOST_CALLS, file), next = 0;
    fclose(file);
    for (size_t i = 0; i < count; i++)
        if ((calls[i] & 1) == 0) {
            cycles[i] = allocate(next++, calls[i] >> 1);
        } else {
            size_t index = calls[i] >> 1;
            if (index >= next || blocks[index].memory == NULL) fail("the trace frees what is not allocated");
            cycles[i] = release(index);
            blocks[index].memory = NULL;
        }
    report(count);
}

/* Sizes as of messages: most are small. */
static size_t some_size(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    uint32_t random = (uint32_t)(*state >> 33);
    return (16u << (random & 7)) + (random >> 8 & 63);
}

static void beside(size_t live)
{
    if (live == 0 || live > MOST_CALLS) fail("so many blocks there cannot be");
    uint64_t state = live;
    for (size_t i = 0; i < live; i++) (void)allocate(i, some_size(&state));
    for (size_t i = 0; i < TIMED; i += 2) {
        size_t index = (size_t)(some_size(&state) * 2654435761u + i * 40503u) % live;
        cycles[i] = release(index);
        cycles[i + 1] = allocate(index, some_size(&state));
    }
    report(TIMED);
}

int main(int count, char **words)
{
    if (count != 4) fail("library|unit trace|live FILE|BLOCKS");
    by_unit = strcmp(words[1], "unit") == 0;
    if (by_unit) {
        void *heap = aligned_alloc(4096, HEAP_BYTES);
        if (heap == NULL || !rw_heap(heap, HEAP_BYTES)) fail("no heap");
    }
    if (strcmp(words[2], "trace") == 0) replay(words[3]);
    else beside(strtoul(words[3], NULL, 10));
    uint64_t address;
    if (by_unit && rw_problem(&address) != RW_ALLOCATE_NO_PROBLEM) fail("a call could not be obeyed");
    return 0;
}
