/* Dependent loads from memory that nothing has touched: each address depends on the zero that the last load returned. */
#include "bare.h"
#include "kernel.h"

enum { STEPS = 512 };
static uint64_t random_state = 3;

void setup(void) {}

uint64_t kernel(void) {
  uint64_t value = 0;
  for (int i = 0; i < STEPS; i++) {
    uint64_t offset = (next_random(&random_state) % (128 << 20)) & ~63ul;
    value = *(volatile uint64_t *)(free_memory + offset + value);
  }
  return value;
}
