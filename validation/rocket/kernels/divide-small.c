/* Numbers as digits: division by a small number, as a loop that prints has it. */
#include "kernel.h"

static uint64_t numbers[64];

void setup(void) {
  uint64_t random = 5;
  for (int i = 0; i < 64; i++) numbers[i] = next_random(&random) >> (i % 24);
}

uint64_t kernel(void) {
  uint64_t sum = 0;
  for (int i = 0; i < 64; i++) {
    uint64_t rest = numbers[i], ten = 10;
    __asm__ volatile("" : "+r"(ten));
    while (rest) {
      sum += rest % ten;
      rest /= ten;
    }
  }
  return sum;
}
