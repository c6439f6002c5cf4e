/* The same copy between buffers that fit into L2 only. */
#include "kernel.h"

enum { WORDS = 4096 };
static uint64_t from[WORDS], to[WORDS];

void setup(void) {
  for (int i = 0; i < WORDS; i++) from[i] = (uint64_t)i;
}

uint64_t kernel(void) {
  for (int i = 0; i < WORDS; i += 4) {
    uint64_t a = from[i], b = from[i + 1], c = from[i + 2], d = from[i + 3];
    volatile uint64_t *at = &to[i];
    at[0] = a;
    at[1] = b;
    at[2] = c;
    at[3] = d;
  }
  return to[7];
}
