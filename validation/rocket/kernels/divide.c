/* Divisions and remainders of operands of many sizes. */
#include "kernel.h"

void setup(void) {}

uint64_t kernel(void) {
  uint64_t random = 17, sum = 0;
  for (int i = 0; i < 512; i++) {
    uint64_t dividend = next_random(&random) << (i % 33) >> (i % 7);
    uint64_t divisor = (next_random(&random) >> (i % 29)) | 1;
    sum += dividend / divisor;
    sum ^= (uint64_t)((int64_t)dividend % (int64_t)divisor);
    sum += (uint32_t)dividend / (uint32_t)divisor;
  }
  return sum;
}
