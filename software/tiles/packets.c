/* How fast elements of 8 bytes go from unit to unit: the tiles 0 and 1 copy packets, each from its queue to the next one.
 *
 * The words are the bytes of a packet and how many there are. All of them are in the first queue before the tiles begin. A line of
 * numbers says what came of it: the elements that the tile 0 has given from the end of the first packet on, the cycles until the tile 1
 * had taken them, and the cycles of the first packet from the first queue to the last. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rackwright/queue.h"
#include "rackwright/rocc.h"

enum { BETWEEN = 1024 };

static uint64_t data[RW_PACKET_MOST / 8], found[RW_PACKET_MOST / 8];

static void fill(size_t packet, size_t bytes)
{
    for (size_t i = 0; i < bytes / 8; i++) data[i] = (packet << 32 | i) * UINT64_C(0x9e3779b97f4a7c15);
}

/* The cycle by which a tile's index has come so far. */
static uint64_t reached(unsigned tile, unsigned reg, uint64_t index)
{
    while (rackwright_register_read(rw_tile_page(tile), reg) < index) {
    }
    return rackwright_cycles();
}

int main(int count, char **words)
{
    if (count != 3) return 2;
    const size_t bytes = strtoul(words[1], NULL, 10), packets = strtoul(words[2], NULL, 10);
    if (!bytes || bytes > RW_PACKET_MOST || bytes % 8 || packets < 2) return 2;
    const size_t each = rw_packet_elements(bytes), all = packets * each;
    size_t places = BETWEEN;
    while (places < all) places *= 2;
    rw_queue *first = rw_queue_create((uint32_t)places, 8), *between = rw_queue_create(BETWEEN, 8);
    rw_queue *last = rw_queue_create((uint32_t)places, 8);
    if (!first || !between || !last) return 2;
    uint64_t cycles = 0, trip = 0;
    /* Once with every place for the caches, and once for the numbers. */
    for (uint64_t done = 0; done < 2 * all; done += all) {
        for (size_t packet = 0; packet < packets; packet++) {
            fill(done + packet, bytes);
            if (!rw_packet_try_push(first, data, bytes)) return 1;
        }
        const uint64_t begin = rackwright_cycles();
        rw_tile_open(1, between, last);
        rw_tile_open(0, first, between);
        const uint64_t start = reached(0, RW_TILE_REGISTER_ANSWERED, done + each);
        trip = reached(1, RW_TILE_REGISTER_ANSWERED, done + each) - begin;
        cycles = reached(1, RW_TILE_REGISTER_TAKEN, done + all) - start;
        if (rw_tile_close(0) != RW_TILE_CLOSED || rw_tile_close(1) != RW_TILE_CLOSED) return 1;
        for (size_t packet = 0; packet < packets; packet++) {
            fill(done + packet, bytes);
            if (rw_packet_try_pop(last, found) != (long)bytes || memcmp(data, found, bytes)) return 1;
        }
    }
    printf("%lu %lu %lu\n", (unsigned long)(all - each), (unsigned long)cycles, (unsigned long)trip);
    return 0;
}
