/* Dependent loads through a list of lines, in an order without pattern. */
#ifndef CHASE_H
#define CHASE_H

#include "kernel.h"

struct line {
  struct line *next;
  uint64_t padding[7];
};

/* Links `count` lines, `stride` lines apart, into one ring. */
static inline struct line *link_ring(struct line *lines, uint32_t count, uint32_t stride, uint16_t *order) {
  uint64_t random = 7;
  for (uint32_t i = 0; i < count; i++) order[i] = (uint16_t)i;
  for (uint32_t i = count - 1; i > 0; i--) {
    uint32_t j = (uint32_t)(next_random(&random) % (i + 1));
    uint16_t swap = order[i];
    order[i] = order[j];
    order[j] = swap;
  }
  for (uint32_t i = 0; i < count; i++) lines[order[i] * stride].next = &lines[order[(i + 1) % count] * stride];
  return &lines[order[0] * stride];
}

static inline uint64_t chase(struct line *at, uint32_t steps) {
  for (uint32_t i = 0; i < steps; i += 4) at = at->next->next->next->next;
  return (uint64_t)at;
}

#endif
