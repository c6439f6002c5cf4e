/* Decompresses what a library has compressed, compresses the same text and decompresses that, by the units of
 * hyperscale.yaml. Prints a sum of the compressed bytes, which are the same on every machine with these units.
 *
 * Its workload has the text as `plain` and `compressed`. */
#include "bare.h"
#include "rackwright/rocc.h"
#include "rackwright/status.h"
#include "units.h"

extern const uint8_t plain[], plain_end[], compressed[], compressed_end[];

/* Cycles from the first command of an operation to its end. */
#define OPERATE(unit, input, input_bytes, output, capacity)                    \
  ({                                                                           \
    rackwright_fence();                                                        \
    const uint64_t begin = read_cycles();                                      \
    RACKWRIGHT_COMMAND(unit##_CUSTOM, unit##_SRC, input, input_bytes);         \
    RACKWRIGHT_COMMAND(unit##_CUSTOM, unit##_LIMIT, capacity, 0);              \
    RACKWRIGHT_COMMAND(unit##_CUSTOM, unit##_DEST_AND_START, output, 0);       \
    (void)RACKWRIGHT_QUERY(unit##_CUSTOM, unit##_CHECK_COMPLETION);            \
    rackwright_fence();                                                        \
    read_cycles() - begin;                                                     \
  })
#define IS_OK(unit) (RACKWRIGHT_QUERY(unit##_CUSTOM, unit##_STATUS) == RACKWRIGHT_OK)

static void say(const char *what, uint64_t cycles) {
  print_text(what);
  print_text(" in ");
  print_number(cycles);
  print_text(" cycles\n");
}

static int is_plain(const uint8_t *bytes) {
  for (const uint8_t *at = plain; at < plain_end; at++, bytes++)
    if (*at != *bytes) return 0;
  return 1;
}

int main(void) {
  const uint64_t bytes = (uint64_t)(plain_end - plain), room = 2 * bytes + 64;
  uint8_t *first = free_memory, *small = first + room, *second = small + room;
  say("decompressed", OPERATE(SNAPPY_DECOMPRESS, compressed, (uint64_t)(compressed_end - compressed), first, room));
  if (!IS_OK(SNAPPY_DECOMPRESS) || !is_plain(first)) return 1;
  say("compressed", OPERATE(SNAPPY_COMPRESS, plain, bytes, small, room));
  if (!IS_OK(SNAPPY_COMPRESS)) return 2;
  const uint64_t made = RACKWRIGHT_QUERY(SNAPPY_COMPRESS_CUSTOM, SNAPPY_COMPRESS_OUTPUT_BYTES);
  say("decompressed again", OPERATE(SNAPPY_DECOMPRESS, small, made, second, room));
  if (!IS_OK(SNAPPY_DECOMPRESS) || !is_plain(second)) return 3;
  uint64_t sum = made;
  for (uint64_t place = 0; place < made; place++) sum = 31 * sum + small[place];
  print_number(sum);
  print_text("\n");
  return 0;
}
