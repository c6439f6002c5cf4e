/* Dependent loads that miss in L1 and hit in L2. */
#include "chase.h"

enum { COUNT = 1024 };
static struct line lines[COUNT];
static uint16_t order[COUNT];
static struct line *first;

void setup(void) { first = link_ring(lines, COUNT, 1, order); }

uint64_t kernel(void) { return chase(first, COUNT); }
