/* What a unit costs that several callers share: each is a thread on a hart of its own that has `stream-copy` copy payloads, one after the
 * other.
 *
 * The first word says by what: with `queue`, the tile 0 serves the callers' queue itself; with `command`, the first hart does, and gives
 * the unit a command per payload. The others are bytes of a payload, callers, and payloads of each. A line of numbers says what came of it:
 * cycles of all payloads, the median and the 99th percentile from a push to the pop of an answer. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rackwright/rocc.h"
#include "rackwright/shared_queue.h"
#include "rackwright/status.h"

enum { MOST_CALLERS = 16, PLACES = 64, WARM_UP = 4 };

typedef struct {
    pthread_t thread;
    unsigned char *from, *to;
    uint64_t *each, begin, end;
    bool right;
} caller;

static rw_shared_queue *asked, *ended;
static caller callers[MOST_CALLERS];
static size_t bytes, payloads, all, ready;

/* Any answer, as callers do that share one queue for them. */
static bool call(const caller *self)
{
    const rw_descriptor descriptor = {(uintptr_t)self->from, bytes, (uintptr_t)self->to, bytes, 1, 0, 0, 0};
    rw_ending ending;
    rw_shared_push(asked, &descriptor);
    return rw_shared_pop(ended, &ending) && ending.status == RACKWRIGHT_OK && ending.output_bytes == bytes;
}

static void *work(void *argument)
{
    caller *self = (caller *)argument;
    for (size_t i = 0; i < bytes; i++) self->from[i] = (unsigned char)(i * 7 + i / 251);
    self->right = true;
    for (size_t i = 0; i < WARM_UP; i++) self->right &= call(self);
    /* All begin together. */
    __atomic_fetch_add(&ready, 1, __ATOMIC_ACQ_REL);
    while (__atomic_load_n(&ready, __ATOMIC_ACQUIRE) < all) {
    }
    self->begin = rackwright_cycles();
    for (size_t i = 0; i < payloads; i++) {
        const uint64_t start = rackwright_cycles();
        self->right &= call(self);
        self->each[i] = rackwright_cycles() - start;
    }
    self->end = rackwright_cycles();
    return NULL;
}

/* The commands of a streaming unit in custom-2 for so many payloads. */
static void serve(size_t count)
{
    for (size_t i = 0; i < count; i++) {
        rw_descriptor descriptor;
        rw_ending ending = {0};
        rw_shared_pop(asked, &descriptor);
        RACKWRIGHT_COMMAND(2, 1, descriptor.source, descriptor.source_bytes);
        RACKWRIGHT_COMMAND(2, 16, descriptor.capacity, 0);
        RACKWRIGHT_COMMAND(2, 2, descriptor.destination, 0);
        (void)RACKWRIGHT_QUERY(2, 3);
        ending.tag = descriptor.tag;
        ending.status = RACKWRIGHT_QUERY(2, 17);
        ending.output_bytes = RACKWRIGHT_QUERY(2, 18);
        rw_shared_push(ended, &ending);
    }
}

static int compare(const void *one, const void *other)
{
    uint64_t a = *(const uint64_t *)one, b = *(const uint64_t *)other;
    return a < b ? -1 : a > b;
}

int main(int count, char **words)
{
    if (count != 5) return 2;
    bytes = strtoul(words[2], NULL, 10);
    const size_t many = all = strtoul(words[3], NULL, 10);
    payloads = strtoul(words[4], NULL, 10);
    if (!bytes || !many || many > MOST_CALLERS || !payloads) return 2;
    const bool by_queue = !strcmp(words[1], "queue");
    uint64_t *each = malloc(many * payloads * sizeof *each);
    asked = rw_shared_create(PLACES, RW_SHARED_DESCRIPTOR_BYTES), ended = rw_shared_create(PLACES, sizeof(rw_ending));
    if (by_queue) rw_tile_open(0, asked, ended);
    for (size_t i = 0; i < many; i++) {
        callers[i].from = aligned_alloc(64, (bytes + 63) & ~(size_t)63), callers[i].to = aligned_alloc(64, (bytes + 63) & ~(size_t)63);
        callers[i].each = each + i * payloads;
        if (pthread_create(&callers[i].thread, NULL, work, callers + i)) return 2;
    }
    if (!by_queue) serve(many * (WARM_UP + payloads));
    uint64_t begin = UINT64_MAX, end = 0;
    for (size_t i = 0; i < many; i++) {
        pthread_join(callers[i].thread, NULL);
        if (!callers[i].right || memcmp(callers[i].from, callers[i].to, bytes)) return 1;
        begin = callers[i].begin < begin ? callers[i].begin : begin;
        end = callers[i].end > end ? callers[i].end : end;
    }
    qsort(each, many * payloads, sizeof *each, compare);
    printf("%lu %lu %lu\n", (unsigned long)(end - begin), (unsigned long)each[many * payloads / 2],
           (unsigned long)each[many * payloads - 1 - many * payloads / 100]);
    return 0;
}
