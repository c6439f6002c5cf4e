/* Stores that hit in L1, and loads that follow them closely. */
#include "kernel.h"

enum { WORDS = 256 };
static volatile uint64_t words[WORDS];

void setup(void) {}

uint64_t kernel(void) {
  uint64_t sum = 0;
  for (int round = 0; round < 16; round++) {
    for (int i = 0; i < WORDS; i += 2) {
      words[i] = (uint64_t)i;
      words[i + 1] = sum;
      sum += words[i ^ 8];
    }
  }
  return sum;
}
