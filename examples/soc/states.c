/* Copies 4,096 bytes whose lines are in the hart's L1 or not, modified there or not. */
#include "copying.h"

enum { BYTES = 4096, CACHE = 16384 };

typedef enum { ABSENT, READ, WRITTEN } state;

static void bring(volatile uint64_t *at, state wanted) {
  for (uint64_t word = 0; word < BYTES / 8; word++) {
    if (wanted == READ) (void)at[word];
    if (wanted == WRITTEN) at[word] = word;
  }
}

/* Reads twice what L1 holds, of which each line replaces another. */
static void empty(const volatile uint8_t *elsewhere) {
  for (uint64_t place = 0; place < 2 * CACHE; place += 64) (void)elsewhere[place];
}

static int measure(const char *what, state of_source, state of_target) {
  uint8_t *source = free_memory, *target = free_memory + 2 * BYTES;
  empty(free_memory + (1 << 20));
  bring((volatile uint64_t *)source, of_source);
  bring((volatile uint64_t *)target, of_target);
  print_cycles(what, copy(source, target, BYTES));
  return RACKWRIGHT_QUERY(STREAM_COPY_CUSTOM, STREAM_COPY_STATUS) != RACKWRIGHT_OK;
}

int main(void) {
  return measure("neither in L1", ABSENT, ABSENT) + measure("both read", READ, READ) +
         measure("source written", WRITTEN, ABSENT) + measure("target written", ABSENT, WRITTEN) +
         measure("both written", WRITTEN, WRITTEN);
}
