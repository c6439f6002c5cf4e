// Harts meet again and again, and look whether the others have come as often.

#include "kernel.h"

enum { TIMES = 50 };

static Alone rounds[MAXIMUM_HARTS];

uint64_t kernel(uint64_t hart) {
    uint64_t wrong = 0;
    for (int time = 0; time < TIMES; time++) {
        rounds[hart].value++;
        meet();
        for (uint64_t other = 0; other < harts_taking_part; other++) {
            wrong += rounds[other].value != rounds[hart].value;
        }
        meet();
    }
    return wrong;
}
