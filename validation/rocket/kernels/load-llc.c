/* Dependent loads that miss in L1 and L2 and hit in the last-level cache: the lines are a power of two apart, so that
   they share few sets of L2. */
#include "bare.h"
#include "chase.h"

/* 64 KiB is half an L2 way: 512 lines in 2 sets of 8 ways never stay. */
enum { COUNT = 512, STRIDE = 1024 };
static uint16_t order[COUNT];
static struct line *first;

void setup(void) { first = link_ring((struct line *)free_memory, COUNT, STRIDE, order); }

uint64_t kernel(void) { return chase(first, COUNT); }
