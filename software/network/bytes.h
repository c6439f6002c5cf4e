/* Numbers in frames: the highest byte first. */
#ifndef RACKWRIGHT_BYTES_H
#define RACKWRIGHT_BYTES_H

#include <stddef.h>
#include <stdint.h>

void *memcpy(void *to, const void *from, size_t length);
void *memset(void *to, int value, size_t length);
int memcmp(const void *one, const void *other, size_t length);

static inline uint16_t get16(const uint8_t *bytes) { return (uint16_t)(bytes[0] << 8 | bytes[1]); }

static inline uint32_t get32(const uint8_t *bytes) { return (uint32_t)get16(bytes) << 16 | get16(bytes + 2); }

static inline uint64_t get48(const uint8_t *bytes) { return (uint64_t)get16(bytes) << 32 | get32(bytes + 2); }

static inline void put16(uint8_t *bytes, uint16_t value) {
  bytes[0] = value >> 8;
  bytes[1] = value;
}

static inline void put32(uint8_t *bytes, uint32_t value) {
  put16(bytes, value >> 16);
  put16(bytes + 2, value);
}

static inline void put48(uint8_t *bytes, uint64_t value) {
  put16(bytes, value >> 32);
  put32(bytes + 2, value);
}

#endif
