/* Dependent loads that hit in L1: the load-to-use latency. */
#include "chase.h"

static struct line lines[64];
static uint16_t order[64];
static struct line *first;

void setup(void) { first = link_ring(lines, 64, 1, order); }

uint64_t kernel(void) { return chase(first, 16384); }
