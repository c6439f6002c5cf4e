/* Copies a range that is larger than L1, and then as much by the hart. */
#include "copying.h"

enum { BYTES = 32768 };

int main(void) {
  uint8_t *source = free_memory, *target = free_memory + (1 << 18);
  uint64_t *words = (uint64_t *)source, *copied = (uint64_t *)target;
  for (uint64_t place = 0; place < BYTES / 8; place++) words[place] = place * 0x9e3779b97f4a7c15u;
  print_cycles("by the unit", copy(source, target, BYTES));
  for (uint64_t place = 0; place < BYTES / 8; place++)
    if (copied[place] != words[place]) return 1;
  const uint64_t begin = read_cycles();
  for (uint64_t place = 0; place < BYTES / 8; place++) copied[place] = words[place];
  print_cycles("by the hart", read_cycles() - begin);
  return 0;
}
