/* Calls and returns, deeper than the return stack. */
#include "kernel.h"

static uint64_t __attribute__((noinline)) fibonacci(uint64_t n) {
  if (n < 2) return n;
  return fibonacci(n - 1) + fibonacci(n - 2);
}

void setup(void) {}

uint64_t kernel(void) { return fibonacci(16); }
