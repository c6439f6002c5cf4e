#include "bytes.h"

/* The compiler must not make calls of these very functions out of their loops. */
#define PLAIN __attribute__((optimize("no-tree-loop-distribute-patterns")))

typedef uint64_t __attribute__((may_alias)) word;

/* Eight bytes after another from any address on, in loads of aligned words only: each is loaded once, and none without
   a byte that is asked for. */
struct words {
  const word *next;
  uint64_t last;
  unsigned shift; /* bits of `last` that come before the next byte; not 0 */
};

static inline struct words words_from(const uint8_t *bytes) {
  const unsigned offset = (uintptr_t)bytes & 7;
  const word *first = (const word *)(bytes - offset);
  return (struct words){first + 1, *first, 8 * offset};
}

static inline uint64_t next_word(struct words *words) {
  const uint64_t loaded = *words->next++, value = words->last >> words->shift | loaded << (64 - words->shift);
  words->last = loaded;
  return value;
}

PLAIN void *memcpy(void *to, const void *from, size_t length) {
  uint8_t *target = to;
  const uint8_t *source = from;
  for (; length && (uintptr_t)target & 7; --length) *target++ = *source++;
  if (((uintptr_t)source & 7) == 0) {
    for (; length >= 8; length -= 8, target += 8, source += 8) *(word *)target = *(const word *)source;
  } else if (length >= 8) {
    struct words words = words_from(source);
    for (; length >= 8; length -= 8, target += 8, source += 8) *(word *)target = next_word(&words);
  }
  while (length--) *target++ = *source++;
  return to;
}

PLAIN void *memset(void *to, int value, size_t length) {
  uint8_t *target = to;
  const uint64_t words = 0x0101010101010101ull * (uint8_t)value;
  for (; length && (uintptr_t)target & 7; --length) *target++ = (uint8_t)value;
  for (; length >= 8; length -= 8, target += 8) *(word *)target = words;
  while (length--) *target++ = (uint8_t)value;
  return to;
}

PLAIN int memcmp(const void *one, const void *other, size_t length) {
  const uint8_t *first = one, *second = other;
  for (; length && (uintptr_t)first & 7; --length, ++first, ++second)
    if (*first != *second) return *first - *second;
  if (((uintptr_t)second & 7) == 0) {
    for (; length >= 8 && *(const word *)first == *(const word *)second; length -= 8) first += 8, second += 8;
  } else if (length >= 8) {
    struct words words = words_from(second);
    for (; length >= 8 && *(const word *)first == next_word(&words); length -= 8) first += 8, second += 8;
  }
  for (; length; --length, ++first, ++second)
    if (*first != *second) return *first - *second;
  return 0;
}
