// Random histories of a shared queue: each hart does a few operations on a queue of two places, with pauses, and writes down what it
// did and when. `seed` is the first of the run. With SEEDED, a queue is called empty while an element is still being written.

#include "kernel.h"

#include "rackwright/shared_queue.h"

enum { PLACES = 2, OPERATIONS = 4, MOST_HARTS = 8 };

// An operation: its kind and size, the values pushed or popped, and the ticks between which it was done.
typedef struct {
    uint64_t push, waits, asked, done, begin, end, values[2];
} Operation;

// What the test has put into memory, and where it reads what happened.
#define seed (*(volatile const uint64_t *)0x80010010)
#define rounds (*(volatile const uint64_t *)0x80010018)
#define log_of(round, hart) ((Operation *)0x80040000 + ((round) * MOST_HARTS + (hart)) * OPERATIONS)

static struct {
    rw_shared_queue queue;
    rw_shared_place places[PLACES];
} __attribute__((aligned(LINE))) shared;

static Alone ticks;

void *memset(void *at, int value, size_t bytes) {
    for (size_t i = 0; i < bytes; i++) ((volatile char *)at)[i] = (char)value;
    return at;
}

void *aligned_alloc(size_t alignment, size_t bytes) { return (void)alignment, (void)bytes, (void *)0; }

void free(void *memory) { (void)memory; }

static uint64_t next_number(uint64_t *state) {
    *state ^= *state << 13, *state ^= *state >> 7, *state ^= *state << 17;
    return *state;
}

static void wait(uint64_t turns) {
    for (; turns; turns--) __asm__ volatile("");
}

// As rw_shared_try_push_many, with a pause while it has its tickets.
static size_t try_push(rw_shared_queue *queue, const uint64_t *values, size_t count, uint64_t pause) {
    uint64_t first;
    const size_t done = rw_shared_draw(&queue->puts, &queue->takes, queue->length, count, &first);
    wait(pause);
    for (size_t i = 0; i < done; i++) rw_shared_fill(queue, first + i, values + i);
    return done;
}

static size_t try_pop(rw_shared_queue *queue, uint64_t *values, size_t count) {
#ifdef SEEDED
    const uint64_t ticket = get(&queue->takes);
    if (get(&rw_shared_at(queue, ticket)->turn) != ticket + 1) return 0;
#endif
    return rw_shared_try_pop_many(queue, values, count);
}

static size_t act(const Operation *what, uint64_t *values, uint64_t pause) {
    rw_shared_queue *queue = &shared.queue;
    if (!what->waits) return what->push ? try_push(queue, values, what->asked, pause) : try_pop(queue, values, what->asked);
    if (!what->push) return rw_shared_pop_many(queue, values, what->asked);
    rw_shared_push_many(queue, values, what->asked);
    return what->asked;
}

// In every second history of an even number of harts, half of them push and half of them pop as many, and all wait for it.
static void history(uint64_t round, uint64_t hart, uint64_t *random) {
    const uint64_t waits = round % 2 && harts_taking_part % 2 == 0;
    for (uint64_t i = 0; i < OPERATIONS; i++) {
        Operation *what = log_of(round, hart) + i;
        uint64_t values[2] = {100 * hart + 2 * i + 1, 100 * hart + 2 * i + 2};
        what->waits = waits;
        what->push = waits ? hart % 2 : next_number(random) % 2;
        what->asked = waits ? 1 : 1 + next_number(random) % 2;
        wait(next_number(random) % 64);
        what->begin = add(&ticks.value, 1);
        what->done = act(what, values, next_number(random) % 128);
        what->end = add(&ticks.value, 1);
        what->values[0] = values[0], what->values[1] = values[1];
    }
}

uint64_t kernel(uint64_t hart) {
    uint64_t random = (seed + hart + 1) * 0x9e3779b97f4a7c15;
    for (uint64_t round = 0; round < rounds; round++) {
        if (hart == 0) rw_shared_prepare(&shared.queue, PLACES, 8);
        meet();
        history(round, hart, &random);
        meet();
    }
    return 0;
}
