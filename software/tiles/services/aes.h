/* AES with keys of 16 bytes in ECB (FIPS 197), as a program. */
#ifndef TILES_AES_H
#define TILES_AES_H

#include <stddef.h>
#include <stdint.h>

enum { AES_ROUNDS = 10, AES_BLOCK = 16 };

typedef struct {
    uint32_t encrypt[4 * (AES_ROUNDS + 1)], decrypt[4 * (AES_ROUNDS + 1)];
} aes_keys;

/* Makes the tables and the round keys. */
void aes_prepare(aes_keys *keys, const uint8_t key[AES_BLOCK]);

/* A whole number of blocks, each in the place of itself. */
void aes_encrypt(const aes_keys *keys, uint8_t *data, size_t bytes);
void aes_decrypt(const aes_keys *keys, uint8_t *data, size_t bytes);

#endif
