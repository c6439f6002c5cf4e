#include "crc32c.h"

#include <string.h>

#define POLYNOMIAL 0x82f63b78u

/* table[k][b]: what byte b becomes after k more bytes of zeros, so that eight bytes are looked up at once. */
static uint32_t table[8][256];

__attribute__((constructor)) static void make_table(void)
{
    for (uint32_t byte = 0; byte < 256; byte++) {
        uint32_t crc = byte;
        for (int bit = 0; bit < 8; bit++) crc = (crc >> 1) ^ (crc & 1 ? POLYNOMIAL : 0);
        table[0][byte] = crc;
    }
    for (int more = 1; more < 8; more++) {
        for (int byte = 0; byte < 256; byte++) {
            const uint32_t before = table[more - 1][byte];
            table[more][byte] = (before >> 8) ^ table[0][before & 0xff];
        }
    }
}

static uint32_t eight(uint32_t crc, const unsigned char *at)
{
    uint64_t word;
    memcpy(&word, at, 8);
    word ^= crc;
    uint32_t sum = 0;
    for (int i = 0; i < 8; i++) sum ^= table[7 - i][(word >> (8 * i)) & 0xff];
    return sum;
}

uint32_t rackwright_crc32c(const void *src, size_t size)
{
    const unsigned char *at = src;
    uint32_t crc = UINT32_MAX;
    for (; size >= 8; at += 8, size -= 8) crc = eight(crc, at);
    for (; size > 0; at++, size--) crc = (crc >> 8) ^ table[0][(crc ^ *at) & 0xff];
    return ~crc;
}
