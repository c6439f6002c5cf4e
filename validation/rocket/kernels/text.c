/* Lengths and comparisons of short strings. */
#include "kernel.h"

static char words[64][32];

static size_t __attribute__((noinline)) length(const char *text) {
  size_t n = 0;
  while (text[n]) n++;
  return n;
}

static int __attribute__((noinline)) compare(const char *a, const char *b) {
  while (*a && *a == *b) a++, b++;
  return (uint8_t)*a - (uint8_t)*b;
}

void setup(void) {
  uint64_t random = 41;
  for (int i = 0; i < 64; i++) {
    size_t n = 3 + next_random(&random) % 20;
    for (size_t j = 0; j < n; j++) words[i][j] = (char)('a' + next_random(&random) % 2);
  }
}

uint64_t kernel(void) {
  uint64_t sum = 0;
  for (int i = 0; i < 64; i++) {
    sum += length(words[i]);
    for (int j = 0; j < 8; j++) sum += (uint64_t)compare(words[i], words[(i + j) & 63]) & 3;
  }
  return sum;
}
