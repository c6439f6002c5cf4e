/* A hash table with counters: multiplications, random accesses, comparisons. */
#include "kernel.h"

enum { SLOTS = 1024 };
static struct slot {
  uint64_t key, count;
} slots[SLOTS];

void setup(void) {}

uint64_t kernel(void) {
  uint64_t random = 37, found = 0;
  for (int i = 0; i < 1024; i++) {
    uint64_t key = next_random(&random) % 600 + 1;
    uint64_t at = key * 0x9e3779b97f4a7c15u >> 54;
    while (slots[at].key != key && slots[at].key != 0) at = (at + 1) % SLOTS;
    found += slots[at].key == key;
    slots[at].key = key;
    slots[at].count++;
  }
  return found;
}
