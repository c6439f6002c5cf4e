#include "bytes.h"

/* The compiler must not make calls of these very functions out of their loops. */
#define PLAIN __attribute__((optimize("no-tree-loop-distribute-patterns")))

PLAIN void *memcpy(void *to, const void *from, size_t length) {
  uint8_t *target = to;
  const uint8_t *source = from;
  if ((((uintptr_t)target | (uintptr_t)source) & 7) == 0) {
    for (; length >= 8; length -= 8, target += 8, source += 8) *(uint64_t *)target = *(const uint64_t *)source;
  }
  for (; length >= 8; length -= 8, target += 8, source += 8) {
    const uint8_t bytes[8] = {source[0], source[1], source[2], source[3], source[4], source[5], source[6], source[7]};
    target[0] = bytes[0], target[1] = bytes[1], target[2] = bytes[2], target[3] = bytes[3];
    target[4] = bytes[4], target[5] = bytes[5], target[6] = bytes[6], target[7] = bytes[7];
  }
  while (length--) *target++ = *source++;
  return to;
}

PLAIN void *memset(void *to, int value, size_t length) {
  uint8_t *target = to;
  const uint64_t word = 0x0101010101010101ull * (uint8_t)value;
  for (; length && (uintptr_t)target & 7; --length) *target++ = (uint8_t)value;
  for (; length >= 8; length -= 8, target += 8) *(uint64_t *)target = word;
  while (length--) *target++ = (uint8_t)value;
  return to;
}

PLAIN int memcmp(const void *one, const void *other, size_t length) {
  const uint8_t *first = one, *second = other;
  if ((((uintptr_t)first | (uintptr_t)second) & 7) == 0) {
    for (; length >= 8 && *(const uint64_t *)first == *(const uint64_t *)second; length -= 8) first += 8, second += 8;
  }
  for (; length >= 4; length -= 4, first += 4, second += 4)
    if ((first[0] ^ second[0]) | (first[1] ^ second[1]) | (first[2] ^ second[2]) | (first[3] ^ second[3])) break;
  for (; length; --length, ++first, ++second)
    if (*first != *second) return *first - *second;
  return 0;
}
