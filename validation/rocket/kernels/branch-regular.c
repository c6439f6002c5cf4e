/* Branches whose outcome repeats every few iterations. */
#include "kernel.h"

void setup(void) {}

uint64_t kernel(void) {
  uint64_t sum = 0;
  for (uint64_t i = 0; i < 8192; i++) {
    if (i & 1) __asm__ volatile("addi %0, %0, 3" : "+r"(sum));
    if ((i & 3) == 2) __asm__ volatile("addi %0, %0, 5" : "+r"(sum));
    __asm__ volatile("" : "+r"(i));
  }
  return sum;
}
