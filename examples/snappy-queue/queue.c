/* Queued use of the Snappy units: a core that keeps a unit busy and works on something else meanwhile.
 *
 * Splits a buffer into blocks, starts the compression of several at once, and takes the results as
 * they complete. Then decompresses them the same way and compares with the beginning, and with what
 * the official library makes of the compressed blocks.
 */
#include <snappy-c.h>
#include <stdio.h>
#include <string.h>

#include "rackwright_snappy.h"

enum { BLOCKS = 6, BLOCK_BYTES = 20000, PACKED_BYTES = 32 + BLOCK_BYTES + BLOCK_BYTES / 6 };

static char plain[BLOCKS][BLOCK_BYTES];
static char packed[BLOCKS][PACKED_BYTES];
static char again[BLOCKS][BLOCK_BYTES];
static rackwright_snappy_record records[BLOCKS];
static size_t packed_bytes[BLOCKS];

/* Text with repetitions, different in each block. */
static void fill(void)
{
    for (int block = 0; block < BLOCKS; block++) {
        for (size_t i = 0; i < BLOCK_BYTES; i++) {
            plain[block][i] = (char)('a' + (i * i / 64 + (size_t)block) % 23);
        }
    }
}

/* Waits for one operation; tells how it went when that was not well. */
static int succeeded(const char *what, int block, rackwright_snappy_result *result)
{
    *result = rackwright_snappy_wait(&records[block]);
    if (result->status == RACKWRIGHT_OK) return 1;
    printf("%s of block %d: %s\n", what, block, rackwright_status_name(result->status));
    return 0;
}

static int compress_all(void)
{
    rackwright_snappy_result result;
    for (int block = 0; block < BLOCKS; block++) {
        rackwright_snappy_start_compress(plain[block], BLOCK_BYTES, packed[block], PACKED_BYTES,
                                         &records[block]);
    }
    for (int block = 0; block < BLOCKS; block++) {
        if (!succeeded("compression", block, &result)) return 0;
        packed_bytes[block] = result.output_bytes;
    }
    return 1;
}

static int decompress_all(void)
{
    rackwright_snappy_result result;
    for (int block = 0; block < BLOCKS; block++) {
        rackwright_snappy_start_uncompress(packed[block], packed_bytes[block], again[block],
                                           BLOCK_BYTES, &records[block]);
    }
    for (int block = 0; block < BLOCKS; block++) {
        if (!succeeded("decompression", block, &result)) return 0;
    }
    return memcmp(plain, again, sizeof plain) == 0;
}

static int library_agrees(int block)
{
    static char expected[BLOCK_BYTES];
    size_t bytes = sizeof expected;
    return snappy_uncompress(packed[block], packed_bytes[block], expected, &bytes) == SNAPPY_OK &&
           bytes == BLOCK_BYTES && memcmp(expected, plain[block], BLOCK_BYTES) == 0;
}

int main(void)
{
    fill();
    if (!compress_all() || !decompress_all()) {
        printf("failed\n");
        return 1;
    }
    for (int block = 0; block < BLOCKS; block++) {
        if (!library_agrees(block)) {
            printf("block %d differs from the official library's\n", block);
            return 1;
        }
        printf("block %d: %d -> %zu bytes\n", block, BLOCK_BYTES, packed_bytes[block]);
    }
    return 0;
}
