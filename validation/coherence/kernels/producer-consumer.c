// Hart 0 sends numbers to hart 1 through a ring; the others do nothing.

#include "kernel.h"

enum { ITEMS = 500, PLACES = 16 };

static volatile uint64_t ring[PLACES] __attribute__((aligned(LINE)));
static Alone sent;
static Alone taken;

static uint64_t produce(void) {
    uint64_t sum = 0;
    for (int item = 0; item < ITEMS; item++) {
        const uint64_t place = sent.value;
        while (place - get(&taken.value) == PLACES) {
        }
        ring[place % PLACES] = 3 * place;
        sum += 3 * place;
        put(&sent.value, place + 1);
    }
    return sum;
}

static uint64_t consume(void) {
    uint64_t sum = 0;
    for (int item = 0; item < ITEMS; item++) {
        const uint64_t place = taken.value;
        while (get(&sent.value) == place) {
        }
        sum += ring[place % PLACES];
        put(&taken.value, place + 1);
    }
    return sum;
}

uint64_t kernel(uint64_t hart) {
    return hart == 0 ? produce() : hart == 1 ? consume() : 0;
}
