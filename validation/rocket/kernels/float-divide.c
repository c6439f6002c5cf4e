/* Floating-point division and square root. */
#include "kernel.h"

void setup(void) {}

uint64_t kernel(void) {
  double x = 1e9, y = 1.37;
  float u = 1e9f, v = 1.37f;
  for (int i = 0; i < 128; i++) {
    __asm__ volatile(
        "fdiv.d %0, %0, %2\n fsqrt.d %0, %0\n fdiv.s %1, %1, %3\n fsqrt.s %1, %1\n"
        "fadd.d %0, %0, %2\n fadd.s %1, %1, %3\n"
        : "+f"(x), "+f"(u)
        : "f"(y), "f"(v));
  }
  return (uint64_t)(x > u);
}
