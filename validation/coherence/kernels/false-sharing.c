// Every hart counts in a variable of its own, all of them in one line.

#include "kernel.h"

enum { TIMES = 500 };

static volatile uint64_t counters[MAXIMUM_HARTS] __attribute__((aligned(2 * LINE)));

uint64_t kernel(uint64_t hart) {
    for (int time = 0; time < TIMES; time++) {
        counters[hart]++;
    }
    return counters[hart];
}
