/* Straight code larger than L1: every line of instructions comes from L2. */
#include "kernel.h"

void setup(void) {}

uint64_t kernel(void) {
  uint64_t x = 1;
  __asm__ volatile(".option push\n .option norvc\n" REPEAT(8192, "addi %0, %0, 1") ".option pop" : "+r"(x));
  return x;
}
