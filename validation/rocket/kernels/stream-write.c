/* Stores in order to lines that are in L2 only; each brings a line in and drives a modified one out. */
#include "kernel.h"

enum { WORDS = 8192 };
static uint64_t words[WORDS];

void setup(void) {}

uint64_t kernel(void) {
  for (int i = 0; i < WORDS; i += 4) {
    volatile uint64_t *at = &words[i];
    at[0] = 1;
    at[1] = 2;
    at[2] = 3;
    at[3] = 4;
  }
  return words[5];
}
