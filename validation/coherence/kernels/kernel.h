// What a kernel of several harts offers, and what it is given.
#pragma once

#include <stdint.h>

// Bytes of a cache line.
enum { LINE = 64, MAXIMUM_HARTS = 16 };

// A variable that has a line to itself.
typedef struct {
    volatile uint64_t value;
} __attribute__((aligned(LINE))) Alone;

// The harts that take part, numbered from 0.
extern const uint64_t harts_taking_part;

// What hart `hart` does, all of them at once; called twice. Returns what tells whether it went right.
uint64_t kernel(uint64_t hart);

// Waits until all harts have come.
void meet(void);

static inline uint64_t add(volatile uint64_t *to, uint64_t what) {
    return __atomic_fetch_add(to, what, __ATOMIC_ACQ_REL);
}

static inline uint64_t get(const volatile uint64_t *from) {
    return __atomic_load_n(from, __ATOMIC_ACQUIRE);
}

static inline void put(volatile uint64_t *to, uint64_t what) {
    __atomic_store_n(to, what, __ATOMIC_RELEASE);
}
