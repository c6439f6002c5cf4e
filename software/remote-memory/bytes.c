#include "paging.h"

void copy_bytes(void *to, const void *from, uint64_t count) {
  uint8_t *bytes = to;
  const uint8_t *source = from;
  uint64_t index = 0;
  if (((uint64_t)to | (uint64_t)from) % 8 == 0) {
    for (; index + 8 <= count; index += 8) *(uint64_t *)(bytes + index) = *(const uint64_t *)(source + index);
  }
  for (; index < count; ++index) bytes[index] = source[index];
}

void clear_bytes(void *place, uint64_t count) {
  for (uint64_t index = 0; index < count; ++index) ((uint8_t *)place)[index] = 0;
}

bool same_text(const char *one, const char *other) {
  while (*one && *one == *other) ++one, ++other;
  return *one == *other;
}
