/* What queues cost: cycles of a hart that has `stream-copy` copy payloads, by queues of the tile 0, or by commands.
 *
 * The first word says by what (`queue`, `registers`, `command`), the others are bytes of a payload, elements of a batch and how many
 * elements are timed. A line of numbers says what came of it: cycles of all batches, the median and the 99th percentile of one,
 * and a sum over what was copied. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rackwright/queue.h"
#include "rackwright/rocc.h"
#include "rackwright/status.h"

enum { MOST_BATCH = 64, MOST_BYTES = 65536, WARM_UP = 2 * MOST_BATCH };

static unsigned char from[MOST_BYTES] __attribute__((aligned(64))), to[MOST_BYTES] __attribute__((aligned(64)));
static rw_queue *asked, *ended;
static rw_descriptor descriptors[MOST_BATCH];
static rw_ending endings[MOST_BATCH];

/* All of a batch with one index written, and taken back with one. */
static bool by_queue(size_t bytes, size_t batch)
{
    size_t pushed = 0, popped = 0;
    while (pushed < batch) pushed += rw_queue_try_push_many(asked, descriptors + pushed, batch - pushed);
    while (popped < batch) popped += rw_queue_try_pop_many(ended, endings + popped, batch - popped);
    for (size_t i = 0; i < batch; i++)
        if (endings[i].status != RACKWRIGHT_OK || endings[i].output_bytes != bytes) return false;
    return true;
}

/* Each word goes to a register of the tile and one comes from there, as where a unit is fed by registers. Nothing waits for a unit: this is
 * the way alone. The register keeps the upper 58 bits. */
static bool by_registers(size_t bytes, size_t batch)
{
    const uint64_t *source = (const uint64_t *)from;
    uint64_t *target = (uint64_t *)to;
    for (size_t i = 0; i < batch; i++)
        for (size_t word = 0; word < bytes / 8; word++) {
            rackwright_register_write(rw_tile_page(0), 0x08, source[word]);
            target[word] = rackwright_register_read(rw_tile_page(0), 0x08) | (source[word] & 63);
        }
    return true;
}

/* The commands of a streaming unit in custom-2, one buffer after the other. */
static bool by_command(size_t bytes, size_t batch)
{
    for (size_t i = 0; i < batch; i++) {
        RACKWRIGHT_COMMAND(2, 1, from, bytes); /* the input */
        RACKWRIGHT_COMMAND(2, 16, bytes, 0);   /* the most output */
        RACKWRIGHT_COMMAND(2, 2, to, 0);       /* the output, which starts it */
        (void)RACKWRIGHT_QUERY(2, 3);          /* the end */
        if (RACKWRIGHT_QUERY(2, 17) != RACKWRIGHT_OK) return false;
    }
    return true;
}

static int compare(const void *one, const void *other)
{
    uint64_t a = *(const uint64_t *)one, b = *(const uint64_t *)other;
    return a < b ? -1 : a > b;
}

int main(int count, char **words)
{
    if (count != 5) return 2;
    size_t bytes = strtoul(words[2], NULL, 10), batch = strtoul(words[3], NULL, 10), elements = strtoul(words[4], NULL, 10);
    if (!bytes || bytes > MOST_BYTES || bytes % 8 || !batch || batch > MOST_BATCH || elements % batch) return 2;
    bool (*act)(size_t, size_t) = !strcmp(words[1], "queue") ? by_queue : !strcmp(words[1], "command") ? by_command : by_registers;
    size_t batches = elements / batch;
    uint64_t *each = malloc(batches * sizeof *each);
    for (size_t i = 0; i < MOST_BYTES; i++) from[i] = (unsigned char)(i * 7 + i / 251);
    asked = rw_queue_create(MOST_BATCH, sizeof(rw_descriptor)), ended = rw_queue_create(MOST_BATCH, sizeof(rw_ending));
    for (size_t i = 0; i < MOST_BATCH; i++)
        descriptors[i] = (rw_descriptor){(uintptr_t)from, bytes, (uintptr_t)to, bytes, i, 0, 0, 0};
    if (act == by_queue) rw_tile_open(0, asked, ended);
    /* Until every place of the queues has been used. */
    for (size_t i = 0; i < (act == by_queue ? WARM_UP : 2) / batch; i++)
        if (!act(bytes, batch)) return 1;
    uint64_t begin = rackwright_cycles();
    for (size_t i = 0; i < batches; i++) {
        uint64_t start = rackwright_cycles();
        if (!act(bytes, batch)) return 1;
        each[i] = rackwright_cycles() - start;
    }
    uint64_t all = rackwright_cycles() - begin;
    if (memcmp(from, to, bytes)) return 1;
    qsort(each, batches, sizeof *each, compare);
    printf("%lu %lu %lu\n", (unsigned long)all, (unsigned long)each[batches / 2], (unsigned long)each[batches - 1 - batches / 100]);
    return 0;
}
