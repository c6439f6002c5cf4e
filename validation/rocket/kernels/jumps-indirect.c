/* Indirect calls whose target changes from one to the next. */
#include "kernel.h"

typedef uint64_t (*step)(uint64_t);
static uint64_t __attribute__((noinline)) add(uint64_t x) { return x + 3; }
static uint64_t __attribute__((noinline)) flip(uint64_t x) { return x ^ 5; }
static uint64_t __attribute__((noinline)) twice(uint64_t x) { return x * 2; }
static uint64_t __attribute__((noinline)) half(uint64_t x) { return x >> 1; }

static step const steps[4] = {add, flip, twice, half};
static uint8_t program[2048];

void setup(void) {
  uint64_t random = 23;
  for (int i = 0; i < 2048; i++) program[i] = (uint8_t)(next_random(&random) & 3);
}

uint64_t kernel(void) {
  uint64_t x = 1;
  for (int i = 0; i < 2048; i++) x = steps[program[i]](x);
  return x;
}
