// Two harts hand a line to each other; the others watch nothing.

#include "kernel.h"

enum { TIMES = 200 };

static Alone ball;

uint64_t kernel(uint64_t hart) {
    if (hart > 1) {
        return 0;
    }
    for (int time = 0; time < TIMES; time++) {
        uint64_t seen;
        do {
            seen = get(&ball.value);
        } while (seen % 2 != hart);
        put(&ball.value, seen + 1);
    }
    return get(&ball.value) >= 2 * TIMES - 1;
}
