/* A histogram of latencies with 32 places per power of two: percentiles are exact to 3 %, at any size. */
#ifndef RACKWRIGHT_LATENCIES_H
#define RACKWRIGHT_LATENCIES_H

#include <stdint.h>

struct latencies {
  uint64_t places[32 * 40];
  uint64_t count, sum, longest;
};

void latencies_add(struct latencies *latencies, uint64_t cycles);

/* The middle of the place in which `per_mille` of all latencies are reached; 0 when there are none. */
uint64_t latencies_percentile(const struct latencies *latencies, unsigned per_mille);

#endif
