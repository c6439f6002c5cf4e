/* Copies the text of its workload by the unit, and prints the copy. */
#include "../copying.h"

extern const uint8_t text[], text_end[];

int main(void) {
  const uint64_t bytes = (uint64_t)(text_end - text);
  char *target = (char *)free_memory;
  const uint64_t cycles = copy(text, (uint8_t *)target, bytes);
  target[bytes] = 0;
  print_text(target);
  print_cycles("copied", cycles);
  return RACKWRIGHT_QUERY(STREAM_COPY_CUSTOM, STREAM_COPY_STATUS) != RACKWRIGHT_OK;
}
