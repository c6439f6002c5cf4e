#include "region.h"

static inline uint64_t turned(uint64_t value, unsigned by) { return value << by | value >> (64 - by); }

static inline void rounds(uint64_t v[4], unsigned count)
{
    while (count--) {
        v[0] += v[1], v[2] += v[3];
        v[1] = turned(v[1], 13) ^ v[0], v[3] = turned(v[3], 16) ^ v[2];
        v[0] = turned(v[0], 32) + v[3], v[2] += v[1];
        v[1] = turned(v[1], 17) ^ v[2], v[3] = turned(v[3], 21) ^ v[0];
        v[2] = turned(v[2], 32);
    }
}

static inline void absorb(uint64_t v[4], uint64_t word)
{
    v[3] ^= word;
    rounds(v, 2);
    v[0] ^= word;
}

uint64_t region_hash(const uint64_t key[2], const void *data, size_t bytes)
{
    uint64_t v[4] = {key[0] ^ UINT64_C(0x736f6d6570736575), key[1] ^ UINT64_C(0x646f72616e646f6d), key[0] ^ UINT64_C(0x6c7967656e657261),
                     key[1] ^ UINT64_C(0x7465646279746573)};
    const char *at = data;
    uint64_t word;
    for (size_t left = bytes; left >= 8; left -= 8, at += 8) {
        memcpy(&word, at, 8);
        absorb(v, word);
    }
    word = 0;
    memcpy(&word, at, bytes % 8);
    absorb(v, word | (uint64_t)bytes << 56);
    v[2] ^= 0xff;
    rounds(v, 4);
    return v[0] ^ v[1] ^ v[2] ^ v[3];
}
