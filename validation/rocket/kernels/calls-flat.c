/* Calls and returns that the return stack can follow. */
#include "kernel.h"

static uint64_t __attribute__((noinline)) leaf(uint64_t x) {
  __asm__ volatile("" : "+r"(x));
  return x + 1;
}

static uint64_t __attribute__((noinline)) middle(uint64_t x) { return leaf(leaf(x)) + leaf(x); }

void setup(void) {}

uint64_t kernel(void) {
  uint64_t x = 0;
  for (int i = 0; i < 2048; i++) x = middle(x) & 0xffff;
  return x;
}
