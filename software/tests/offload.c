/* A dynamically linked program that knows nothing of units: FILE, by Snappy and zlib there and back. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <snappy-c.h>
#include <zlib.h>

static char *plain, *packed, *again;
static size_t size, room;

static int same(size_t length)
{
    return length == size && memcmp(plain, again, size) == 0;
}

static int snappy(void)
{
    size_t length = room, back = size;
    return snappy_compress(plain, size, packed, &length) == SNAPPY_OK &&
           snappy_uncompress(packed, length, again, &back) == SNAPPY_OK && same(back) &&
           /* Malformed, says who was asked last. */
           snappy_uncompress(packed, length / 2, again, &back) == SNAPPY_INVALID_INPUT;
}

static int zlib(void)
{
    uLongf length = room, back = size, few = 10;
    return compress2((Bytef *)packed, &length, (const Bytef *)plain, size, 6) == Z_OK &&
           uncompress((Bytef *)again, &back, (const Bytef *)packed, length) == Z_OK && same(back) &&
           compress((Bytef *)again, &few, (const Bytef *)plain, size) == Z_BUF_ERROR;
}

int main(int count, char **words)
{
    FILE *file = count == 2 ? fopen(words[1], "rb") : NULL;
    if (file == NULL) return 2;
    fseek(file, 0, SEEK_END);
    size = ftell(file);
    rewind(file);
    room = 2 * size + 64;
    plain = malloc(size), packed = malloc(room), again = malloc(room);
    if (fread(plain, 1, size, file) != size) return 2;
    const int by_snappy = snappy();
    /* Of memory that nobody has touched yet. */
    free(again), again = malloc(room);
    const int by_zlib = zlib();
    printf("%s %s\n", by_snappy ? "right" : "wrong", by_zlib ? "right" : "wrong");
    return !(by_snappy && by_zlib);
}
