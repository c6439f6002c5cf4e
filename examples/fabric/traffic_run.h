/* Runs of a card `traffic`, by its registers. */
#ifndef TRAFFIC_RUN_H
#define TRAFFIC_RUN_H

#include "rackwright/traffic_registers.h"

#include <stdint.h>

enum { TRAFFIC_VENDOR = 0x5257, TRAFFIC_DEVICE = 0x0001 };
enum { REQUESTS = 64, REQUEST_BYTES = 512, BUFFER_BYTES = REQUESTS * REQUEST_BYTES, SEED = 1000 };

#define REGISTER(name) registers[RW_TRAFFIC_REGISTER_##name / 8]

/* Has the card read a buffer or write it, from the bus address `base` on. */
static inline void traffic_begin(volatile uint64_t *registers, uint64_t base, int writes) {
  REGISTER(BASE) = base;
  REGISTER(SIZE) = REQUEST_BYTES;
  REGISTER(STRIDE) = REQUEST_BYTES;
  REGISTER(MASK) = BUFFER_BYTES - 1;
  REGISTER(COUNT) = REQUESTS;
  REGISTER(OUTSTANDING) = 32;
  REGISTER(INTERVAL) = 1;
  REGISTER(COPY) = 0;
  REGISTER(SEED) = SEED;
  REGISTER(START) = (uint64_t)writes << RW_TRAFFIC_REGISTER_START_WRITES_BIT;
}

/* The same, and waits for the end. */
static inline void traffic_run(volatile uint64_t *registers, uint64_t base, int writes) {
  traffic_begin(registers, base, writes);
  while (REGISTER(START)) {}
}

/* Fills a buffer with words of its own for `card`, and gives their sum. */
static inline uint64_t traffic_fill(volatile uint64_t *buffer, unsigned card) {
  uint64_t sum = 0;
  for (uint64_t word = 0; word < BUFFER_BYTES / 8; word++) sum += buffer[word] = 3 * word + card;
  return sum;
}

/* Whether the card has read words with this sum. */
static inline int traffic_has_read(volatile uint64_t *registers, uint64_t sum) {
  return REGISTER(SUM) == sum && REGISTER(FAULTS) == 0;
}

/* Whether a buffer holds what the card writes: of each word its bus address and the seed. */
static inline int traffic_has_written(const volatile uint64_t *buffer, uint64_t base) {
  for (uint64_t word = 0; word < BUFFER_BYTES / 8; word++)
    if (buffer[word] != base + 8 * word + SEED) return 0;
  return 1;
}

#endif
