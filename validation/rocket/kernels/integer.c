/* Integer operations of one cycle, each needing the last one's result; shifts; results of loads at once. */
#include "kernel.h"

static uint64_t table[8];

void setup(void) {}

uint64_t kernel(void) {
  uint64_t x = 1, y = 2, *at = table;
  for (int i = 0; i < 1024; i++) {
    __asm__ volatile(REPEAT(8, "add %0, %0, %1\n xor %1, %1, %0\n slli %0, %0, 1\n srai %1, %1, 2")
                     "ld %0, 0(%2)\n add %0, %0, %1\n lb %1, 8(%2)\n add %1, %1, %0\n"
                     "lhu %1, 16(%2)\n nop\n add %1, %1, %0\n"
                     : "+r"(x), "+r"(y)
                     : "r"(at)
                     : "memory");
  }
  return x + y;
}
