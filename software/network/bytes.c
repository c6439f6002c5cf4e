#include "bytes.h"

/* The compiler must not make calls of these very functions out of their loops. */
#define PLAIN __attribute__((optimize("no-tree-loop-distribute-patterns")))

PLAIN void *memcpy(void *to, const void *from, size_t length) {
  uint8_t *target = to;
  const uint8_t *source = from;
  if ((((uintptr_t)target | (uintptr_t)source) & 7) == 0) {
    for (; length >= 8; length -= 8, target += 8, source += 8) *(uint64_t *)target = *(const uint64_t *)source;
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
  for (; length; --length, ++first, ++second)
    if (*first != *second) return *first - *second;
  return 0;
}
