/* Has eight units count the ones of eight buffers at the same time, and compares with what the hart counts. */
#include "bare.h"
#include "rackwright/rocc.h"
#include "rackwright/status.h"
#include "units.h"

enum { UNITS = 8, BYTES = 1000, APART = 1024 };

static uint64_t ones_of(const uint8_t *data) {
  uint64_t total = 0;
  for (uint64_t place = 0; place < BYTES; place++)
    for (unsigned bits = data[place]; bits != 0; bits &= bits - 1) total++;
  return total;
}

#define START(UNIT, place) RACKWRIGHT_COMMAND(POPULATION_COUNT_CUSTOM, UNIT##_COUNT, buffers[place], BYTES)
#define IS_RIGHT(UNIT, place)                                                     \
  (RACKWRIGHT_QUERY(POPULATION_COUNT_CUSTOM, UNIT##_RESULT) == expected[place] && \
   RACKWRIGHT_QUERY(POPULATION_COUNT_CUSTOM, UNIT##_STATUS) == RACKWRIGHT_OK)
#define EACH(DO)                                                                       \
  DO(POPULATION_COUNT, 0) DO(POPULATION_COUNT_2, 1) DO(POPULATION_COUNT_3, 2)          \
  DO(POPULATION_COUNT_4, 3) DO(POPULATION_COUNT_5, 4) DO(POPULATION_COUNT_6, 5)        \
  DO(POPULATION_COUNT_7, 6) DO(POPULATION_COUNT_8, 7)

int main(void) {
  uint8_t *buffers[UNITS];
  uint64_t expected[UNITS];
  uint32_t state = 1;
  for (uint64_t unit = 0; unit < UNITS; unit++) {
    buffers[unit] = free_memory + unit * APART + unit; /* any alignment will do */
    for (uint64_t place = 0; place < BYTES; place++) {
      state = state * 1664525 + 1013904223;
      buffers[unit][place] = (uint8_t)(state >> 24);
    }
    expected[unit] = ones_of(buffers[unit]);
  }
  rackwright_fence();
  const uint64_t start = read_cycles();
#define START_IT(UNIT, place) START(UNIT, place);
  EACH(START_IT)
  int right = 0;
#define CHECK_IT(UNIT, place) right += IS_RIGHT(UNIT, place);
  EACH(CHECK_IT)
  const uint64_t cycles = read_cycles() - start;
  print_number(right);
  print_text(" of 8 units are right, in ");
  print_number(cycles);
  print_text(" cycles\n");
  return right == UNITS ? 0 : 1;
}
