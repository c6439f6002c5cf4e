/* Independent loads in order, from L2. */
#include "kernel.h"

enum { WORDS = 8192 };
static uint64_t words[WORDS];

void setup(void) {
  for (int i = 0; i < WORDS; i++) words[i] = (uint64_t)i;
}

uint64_t kernel(void) {
  uint64_t a = 0, b = 0, c = 0, d = 0;
  for (int i = 0; i < WORDS; i += 4) {
    a += words[i];
    b += words[i + 1];
    c += words[i + 2];
    d += words[i + 3];
  }
  return a + b + c + d;
}
