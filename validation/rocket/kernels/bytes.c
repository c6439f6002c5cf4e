/* A decoder of literals and copies, byte by byte, as in Snappy. */
#include "kernel.h"

enum { INPUT = 4096, OUTPUT = 16384 };
static uint8_t input[INPUT], output[OUTPUT];

void setup(void) {
  uint64_t random = 31;
  for (int i = 0; i < INPUT; i++) input[i] = (uint8_t)next_random(&random);
}

uint64_t kernel(void) {
  const uint8_t *in = input, *end = input + INPUT - 80;
  uint32_t out = 0;
  while (in < end && out < OUTPUT - 80) {
    uint8_t tag = *in++;
    uint32_t length = (tag >> 2) % 24 + 1;
    if (tag & 1 || out < 256) {
      for (uint32_t i = 0; i < length; i++) output[out++] = *in++;
    } else {
      uint32_t offset = *in++ + 1u;
      for (uint32_t i = 0; i < length; i++, out++) output[out] = output[out - offset];
    }
  }
  return out + output[out / 2];
}
