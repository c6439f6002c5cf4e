/* Independent floating-point operations, conversions and comparisons. */
#include "kernel.h"

void setup(void) {}

uint64_t kernel(void) {
  double a = 1, b = 2, c = 3, d = 4, y = 1.0000001;
  uint64_t count = 0;
  for (int i = 0; i < 1024; i++) {
    __asm__ volatile(
        "fmadd.d %0, %0, %4, %4\n fmadd.d %1, %1, %4, %4\n"
        "fmul.d %2, %2, %4\n fadd.d %3, %3, %4\n"
        : "+f"(a), "+f"(b), "+f"(c), "+f"(d)
        : "f"(y));
    count += (uint64_t)(a < b) + (uint64_t)(int64_t)y;
    d = (double)(int64_t)count;
  }
  return count + (uint64_t)(d > c);
}
