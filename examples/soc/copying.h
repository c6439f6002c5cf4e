/* What the programs that measure the copy unit share: a copy, and lines of numbers that are compared with the model's. */
#ifndef COPYING_H
#define COPYING_H

#include "bare.h"
#include "rackwright/rocc.h"
#include "rackwright/status.h"
#include "units.h"

/* Starts a copy; `finish` waits for it. */
static inline void start(const uint8_t *source, uint8_t *target, uint64_t bytes) {
  RACKWRIGHT_COMMAND(STREAM_COPY_CUSTOM, STREAM_COPY_SRC, source, bytes);
  RACKWRIGHT_COMMAND(STREAM_COPY_CUSTOM, STREAM_COPY_LIMIT, bytes, 0);
  RACKWRIGHT_COMMAND(STREAM_COPY_CUSTOM, STREAM_COPY_DEST_AND_START, target, 0);
}

static inline void finish(void) { (void)RACKWRIGHT_QUERY(STREAM_COPY_CUSTOM, STREAM_COPY_CHECK_COMPLETION); }

/* Cycles from the first command of a copy to its end. A core goes on behind a query until something needs the answer;
 * a fence waits for the unit. */
static inline uint64_t copy(const uint8_t *source, uint8_t *target, uint64_t bytes) {
  rackwright_fence();
  const uint64_t begin = read_cycles();
  start(source, target, bytes);
  finish();
  rackwright_fence();
  return read_cycles() - begin;
}

static inline void print_cycles(const char *what, uint64_t cycles) {
  print_text(what);
  print_text(" in ");
  print_number(cycles);
  print_text(" cycles\n");
}

#endif
