// Every hart counts in a line of its own: what false sharing is to be compared with.

#include "kernel.h"

enum { TIMES = 500 };

static Alone counters[MAXIMUM_HARTS];

uint64_t kernel(uint64_t hart) {
    for (int time = 0; time < TIMES; time++) {
        counters[hart].value++;
    }
    return counters[hart].value;
}
