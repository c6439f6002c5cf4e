// Harts read the time one after the other, under a lock. Counts the readings before what somebody has read already.

#include "kernel.h"

enum { TIMES = 100 };

static Alone taken;
static Alone latest;
static Alone backwards;

static uint64_t now(void) {
    uint64_t time;
    __asm__ volatile("rdtime %0" : "=r"(time)::"memory");
    return time;
}

uint64_t kernel(uint64_t hart) {
    (void)hart;
    for (int time = 0; time < TIMES; time++) {
        while (__atomic_exchange_n(&taken.value, 1, __ATOMIC_ACQUIRE)) {
        }
        const uint64_t read = now();
        backwards.value = backwards.value + (read < latest.value);
        latest.value = read;
        put(&taken.value, 0);
    }
    meet();
    return backwards.value;
}
