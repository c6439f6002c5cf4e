/* Ordered atomics: fences around loads and stores. */
#include "kernel.h"

static uint64_t word, flag;

void setup(void) {}

uint64_t kernel(void) {
  uint64_t sum = 0;
  for (int i = 0; i < 1024; i++) {
    __atomic_store_n(&word, (uint64_t)i, __ATOMIC_RELAXED);
    __atomic_store_n(&flag, (uint64_t)i, __ATOMIC_RELEASE);
    sum += __atomic_load_n(&flag, __ATOMIC_ACQUIRE);
  }
  return sum;
}
