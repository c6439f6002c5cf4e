/* High halves of products: a chain, and side by side. */
#include "kernel.h"

void setup(void) {}

uint64_t kernel(void) {
  uint64_t x = 0x9e3779b97f4a7c15, y = 0xd1b54a32d192ed03, sum = 0;
  for (int i = 0; i < 256; i++) {
    int64_t a, b;
    uint64_t c;
    __asm__ volatile(
        "mulhu %0, %0, %4\n ori %0, %0, 3\n"
        "mulh %1, %4, %5\n mulhsu %2, %5, %4\n mulhu %3, %5, %5\n"
        : "+r"(x), "=&r"(a), "=&r"(b), "=&r"(c)
        : "r"(y), "r"(12345l));
    x |= 1ul << 63;
    sum += (uint64_t)a + (uint64_t)b + c;
  }
  return sum + x;
}
