/* Sums of two vectors, four elements at a time; the three vectors together are larger than L1. */
#include "kernel.h"

enum { COUNT = 1024 };
static uint64_t a[COUNT], b[COUNT], sums[COUNT];

void setup(void) {
  for (int i = 0; i < COUNT; i++) a[i] = (uint64_t)i, b[i] = (uint64_t)(2 * i);
}

uint64_t kernel(void) {
  for (int i = 0; i < COUNT; i += 4) {
    uint64_t p = a[i] + b[i], q = a[i + 1] + b[i + 1], r = a[i + 2] + b[i + 2], s = a[i + 3] + b[i + 3];
    sums[i] = p, sums[i + 1] = q, sums[i + 2] = r, sums[i + 3] = s;
  }
  return sums[COUNT / 2];
}
