/* Floating point with each result needed at once: add, multiply, multiply-add, in both precisions. */
#include "kernel.h"

void setup(void) {}

uint64_t kernel(void) {
  double x = 1.0, y = 1.0000001;
  float u = 1.0f, v = 1.0001f;
  for (int i = 0; i < 512; i++) {
    __asm__ volatile(REPEAT(4, "fadd.d %0, %0, %2\n fmul.d %0, %0, %2\n fmadd.d %0, %0, %2, %2")
                     REPEAT(4, "fadd.s %1, %1, %3\n fmul.s %1, %1, %3")
                     : "+f"(x), "+f"(u)
                     : "f"(y), "f"(v));
  }
  return (uint64_t)(x > u);
}
