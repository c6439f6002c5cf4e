// Runs a kernel on all harts, once to warm caches and predictors, and measures the second call of each hart.

#include "kernel.h"

// What a hart reports, in a line of its own.
typedef struct {
    uint64_t cycles;
    uint64_t value;
} __attribute__((aligned(LINE))) Result;

extern Result results[MAXIMUM_HARTS];

// A device that gets the results too, value and cycles of each hart, where memory cannot be looked at through caches; or null.
extern volatile uint64_t *const reader;

static Alone arrived;
static Alone generation;

void meet(void) {
    const uint64_t before = get(&generation.value);
    if (add(&arrived.value, 1) + 1 == harts_taking_part) {
        arrived.value = 0;
        put(&generation.value, before + 1);
    } else {
        while (get(&generation.value) == before) {
        }
    }
}

static uint64_t cycle(void) {
    uint64_t now;
    __asm__ volatile("csrr %0, mcycle" : "=r"(now)::"memory");
    return now;
}

void run(uint64_t hart) {
    if (hart >= harts_taking_part) {
        return;
    }
    meet();
    kernel(hart);
    meet();
    const uint64_t begin = cycle();
    const uint64_t value = kernel(hart);
    results[hart].cycles = cycle() - begin;
    results[hart].value = value;
    if (reader) {
        reader[2 * hart] = value;
        reader[2 * hart + 1] = results[hart].cycles;
    }
}
