/* A table for each direction joins the substitution and the mixing of columns, as most programs without instructions for AES have it. */
#include "aes.h"

#include <string.h>

static uint8_t box[256], inverse_box[256];
static uint32_t forward[256], backward[256];

static uint8_t twice(uint8_t value) { return (uint8_t)(value << 1 ^ (value & 0x80 ? 0x1b : 0)); }

static uint8_t product(uint8_t value, unsigned by)
{
    uint8_t sum = 0;
    for (; by; by >>= 1, value = twice(value))
        if (by & 1) sum ^= value;
    return sum;
}

static uint32_t turned(uint32_t word, unsigned bytes) { return bytes ? word << 8 * bytes | word >> (32 - 8 * bytes) : word; }

static uint32_t column(uint8_t value, const uint8_t by[4])
{
    uint32_t word = 0;
    for (unsigned row = 0; row < 4; row++) word |= (uint32_t)product(value, by[row]) << 8 * row;
    return word;
}

/* 3 generates all numbers of the field but 0: its powers, and those of its inverse beside them. */
static void make_tables(void)
{
    static const uint8_t mix[4] = {2, 1, 1, 3}, unmix[4] = {14, 9, 13, 11};
    uint8_t power = 1, inverse = 1;
    box[0] = 0x63;
    do {
        power = (uint8_t)(power ^ twice(power));
        inverse = product(inverse, 0xf6); /* the inverse of 3 */
        uint8_t sum = inverse;
        for (unsigned by = 1; by < 5; by++) sum ^= (uint8_t)(inverse << by | inverse >> (8 - by));
        box[power] = sum ^ 0x63;
    } while (power != 1);
    for (unsigned i = 0; i < 256; i++) inverse_box[box[i]] = (uint8_t)i;
    for (unsigned i = 0; i < 256; i++) forward[i] = column(box[i], mix), backward[i] = column(inverse_box[i], unmix);
}

static uint32_t substituted(uint32_t word)
{
    uint32_t made = 0;
    for (unsigned i = 0; i < 32; i += 8) made |= (uint32_t)box[word >> i & 255] << i;
    return made;
}

void aes_prepare(aes_keys *keys, const uint8_t key[AES_BLOCK])
{
    static const uint8_t unmix[4] = {14, 9, 13, 11};
    make_tables();
    uint8_t constant = 1;
    memcpy(keys->encrypt, key, AES_BLOCK);
    for (unsigned i = 4; i < 4 * (AES_ROUNDS + 1); i++) {
        uint32_t word = keys->encrypt[i - 1];
        if (i % 4 == 0) word = substituted(turned(word, 3)) ^ constant, constant = twice(constant);
        keys->encrypt[i] = keys->encrypt[i - 4] ^ word;
    }
    for (unsigned round = 0; round <= AES_ROUNDS; round++)
        for (unsigned i = 0; i < 4; i++) {
            uint32_t word = keys->encrypt[4 * (AES_ROUNDS - round) + i], mixed = word;
            if (round && round < AES_ROUNDS) {
                mixed = 0;
                for (unsigned byte = 0; byte < 4; byte++) mixed ^= turned(column((uint8_t)(word >> 8 * byte), unmix), byte);
            }
            keys->decrypt[4 * round + i] = mixed;
        }
}

/* One block; `step` is how far rows turn: 1 column a row to the left, or 3. */
static inline void block(const uint32_t *keys, const uint32_t *table, const uint8_t *last, unsigned step, uint8_t *data)
{
    uint32_t state[4], next[4];
    memcpy(state, data, AES_BLOCK);
    for (unsigned i = 0; i < 4; i++) state[i] ^= keys[i];
    for (unsigned round = 1; round < AES_ROUNDS; round++) {
        for (unsigned i = 0; i < 4; i++)
            next[i] = table[state[i] & 255] ^ turned(table[state[(i + step) % 4] >> 8 & 255], 1) ^
                      turned(table[state[(i + 2) % 4] >> 16 & 255], 2) ^ turned(table[state[(i + 3 * step) % 4] >> 24], 3) ^
                      keys[4 * round + i];
        memcpy(state, next, sizeof state);
    }
    for (unsigned i = 0; i < 4; i++)
        next[i] = ((uint32_t)last[state[i] & 255] | (uint32_t)last[state[(i + step) % 4] >> 8 & 255] << 8 |
                   (uint32_t)last[state[(i + 2) % 4] >> 16 & 255] << 16 | (uint32_t)last[state[(i + 3 * step) % 4] >> 24] << 24) ^
                  keys[4 * AES_ROUNDS + i];
    memcpy(data, next, AES_BLOCK);
}

void aes_encrypt(const aes_keys *keys, uint8_t *data, size_t bytes)
{
    for (size_t at = 0; at < bytes; at += AES_BLOCK) block(keys->encrypt, forward, box, 1, data + at);
}

void aes_decrypt(const aes_keys *keys, uint8_t *data, size_t bytes)
{
    for (size_t at = 0; at < bytes; at += AES_BLOCK) block(keys->decrypt, backward, inverse_box, 3, data + at);
}
