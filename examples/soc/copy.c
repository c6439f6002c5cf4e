/* Copies a buffer by the unit beside the hart, checks every byte and its neighbours, and prints how long it took.
 *
 *     ./rw units stream-copy --header units.h */
#include "bare.h"
#include "rackwright/rocc.h"
#include "rackwright/status.h"
#include "units.h"

enum { BYTES = 4096, MARGIN = 64 };

/* Bytes that tell their places apart. */
static uint8_t pattern(uint64_t place) { return (uint8_t)((place * 0x9e3779b97f4a7c15u) >> 56); }

/* In a line of its own: the first copy waits for no instructions between its first command and its answer. */
__attribute__((noinline, aligned(64))) static uint64_t copy(const uint8_t *source, uint8_t *target, uint64_t bytes) {
  rackwright_fence();
  const uint64_t start = read_cycles();
  RACKWRIGHT_COMMAND(STREAM_COPY_CUSTOM, STREAM_COPY_SRC, source, bytes);
  RACKWRIGHT_COMMAND(STREAM_COPY_CUSTOM, STREAM_COPY_LIMIT, bytes, 0);
  RACKWRIGHT_COMMAND(STREAM_COPY_CUSTOM, STREAM_COPY_DEST_AND_START, target, 0);
  (void)RACKWRIGHT_QUERY(STREAM_COPY_CUSTOM, STREAM_COPY_CHECK_COMPLETION);
  rackwright_fence(); /* waits for the unit too: the core goes on behind a query until something needs the answer */
  return read_cycles() - start;
}

/* Whether the target holds the source, and nothing was written around it. */
static int is_exact(const uint8_t *source, const uint8_t *target, uint64_t bytes) {
  for (uint64_t place = 0; place < bytes; place++)
    if (target[place] != source[place]) return 0;
  for (uint64_t place = 1; place <= MARGIN; place++)
    if (target[-(int64_t)place] != 0 || target[bytes + place - 1] != 0) return 0;
  return 1;
}

/* Writes both ranges, twice: a line that is brought in may replace one of the other range. */
static void write_both(uint8_t *source, uint8_t *target, uint64_t bytes) {
  for (int turn = 0; turn < 2; turn++) {
    for (uint64_t place = 0; place < bytes; place++) source[place] = pattern(place);
    for (uint64_t place = 0; place < bytes + 2 * MARGIN; place++) target[place - MARGIN] = 0;
  }
}

int main(void) {
  uint8_t *source = free_memory, *target = free_memory + 4 * BYTES;
  for (uint64_t bytes = 1, odd = 0; bytes <= BYTES; bytes *= 8, odd += 3) {
    uint8_t *to = target + MARGIN + 5 * odd;
    write_both(source + odd, to, bytes);
    const uint64_t cycles = copy(source + odd, to, bytes);
    if (RACKWRIGHT_QUERY(STREAM_COPY_CUSTOM, STREAM_COPY_STATUS) != RACKWRIGHT_OK) return 2;
    if (!is_exact(source + odd, to, bytes)) return 3;
    print_number(bytes);
    print_text(" bytes in ");
    print_number(cycles);
    print_text(" cycles\n");
  }
  return 0;
}
