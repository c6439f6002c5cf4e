/* Atomic additions, swaps and load-reserved/store-conditional pairs in L1. */
#include "kernel.h"

static uint64_t counters[16];

void setup(void) {}

uint64_t kernel(void) {
  uint64_t sum = 0;
  for (int i = 0; i < 1024; i++) {
    uint64_t *at = &counters[i & 15];
    sum += __atomic_fetch_add(at, 1, __ATOMIC_RELAXED);
    __atomic_fetch_or(&counters[3], sum, __ATOMIC_RELAXED);
    uint64_t old = counters[(i + 1) & 15];
    __atomic_compare_exchange_n(&counters[(i + 1) & 15], &old, old + 2, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
  }
  return sum;
}
