/* Adds up an array while the unit copies another one. */
#include "copying.h"

enum { BYTES = 8192 };

static uint64_t sum(const volatile uint64_t *words) {
  uint64_t total = 0;
  for (uint64_t place = 0; place < BYTES / 8; place++) total += words[place];
  return total;
}

int main(void) {
  uint8_t *source = free_memory, *target = free_memory + (1 << 16);
  uint64_t *words = (uint64_t *)(free_memory + (1 << 17));
  for (uint64_t place = 0; place < BYTES / 8; place++) words[place] = place;
  for (uint64_t place = 0; place < BYTES; place++) source[place] = (uint8_t)place;
  uint64_t begin = read_cycles();
  const uint64_t expected = sum(words);
  print_cycles("the sum alone", read_cycles() - begin);
  print_cycles("the copy alone", copy(source, target, BYTES));
  begin = read_cycles();
  start(source, target, BYTES);
  const uint64_t total = sum(words);
  finish();
  rackwright_fence();
  print_cycles("both", read_cycles() - begin);
  return total != expected;
}
