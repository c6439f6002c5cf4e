/* Multiplications, each needing the last one's result, then independent ones. */
#include "kernel.h"

void setup(void) {}

uint64_t kernel(void) {
  uint64_t a = 3, b = 5, c = 7, d = 11, x = 0x123456789;
  for (int i = 0; i < 256; i++) {
    __asm__ volatile(REPEAT(8, "mul %0, %0, %4") "mulhu %1, %0, %4\n"
                     "mul %1, %1, %4\n mul %2, %2, %4\n mul %3, %3, %4\n mulw %2, %2, %4\n"
                     : "+r"(a), "+r"(b), "+r"(c), "+r"(d)
                     : "r"(x));
  }
  return a + b + c + d;
}
