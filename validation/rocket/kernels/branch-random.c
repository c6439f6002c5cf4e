/* Branches whose outcome nobody can guess. */
#include "kernel.h"

static uint8_t bits[4096];

void setup(void) {
  uint64_t random = 11;
  for (int i = 0; i < 4096; i++) bits[i] = (uint8_t)(next_random(&random) & 1);
}

uint64_t kernel(void) {
  uint64_t sum = 0;
  for (int i = 0; i < 4096; i++) {
    if (bits[i])
      __asm__ volatile("addi %0, %0, 3" : "+r"(sum));
    else
      __asm__ volatile("xori %0, %0, 5" : "+r"(sum));
  }
  return sum;
}
