#include "latencies.h"

enum { PLACES = 32, LAST = PLACES * 40 - 1 };

static unsigned place_of(uint64_t cycles) {
  if (cycles < PLACES) return (unsigned)cycles;
  unsigned above = 0;
  while (cycles >> above >= 2 * PLACES) ++above;
  const unsigned place = (above + 1) * PLACES + (unsigned)(cycles >> above) - PLACES;
  return place < LAST ? place : LAST;
}

static uint64_t middle_of(unsigned place) {
  if (place < PLACES) return place;
  const unsigned above = place / PLACES - 1;
  return ((uint64_t)(place % PLACES + PLACES) << above) + (above ? 1ull << (above - 1) : 0);
}

void latencies_add(struct latencies *latencies, uint64_t cycles) {
  ++latencies->places[place_of(cycles)];
  ++latencies->count;
  latencies->sum += cycles;
  if (cycles > latencies->longest) latencies->longest = cycles;
}

uint64_t latencies_percentile(const struct latencies *latencies, unsigned per_mille) {
  const uint64_t wanted = (latencies->count * per_mille + 999) / 1000;
  uint64_t passed = 0;
  for (unsigned place = 0; place <= LAST; ++place) {
    passed += latencies->places[place];
    if (passed && passed >= wanted) return middle_of(place);
  }
  return 0;
}
