/* The application of the first prototype (Pengwing, section 4.1): four elements of eight bytes are pushed, published together, and pulled
 * back. The unit of tile 0 gives each back as it came. Prints how many are the same, cycles from the first push until the places are
 * released, the first time and once more. */
#include <stdio.h>

#include "rackwright/queue.h"
#include "rackwright/rocc.h"
#include "rackwright/status.h"

enum { ELEMENTS = 4 };

static uint64_t pushed[ELEMENTS], pulled[ELEMENTS];

static uint64_t there_and_back(rw_queue *asked, rw_queue *ended, uint64_t round, unsigned *same)
{
    rw_ending ending;
    for (uint64_t i = 0; i < ELEMENTS; i++) pushed[i] = UINT64_C(0x9e3779b97f4a7c15) * (round * ELEMENTS + i + 1), pulled[i] = 0;
    uint64_t start = rackwright_cycles();
    for (uint64_t i = 0; i < ELEMENTS; i++) {
        rw_descriptor element = {(uintptr_t)&pushed[i], 8, (uintptr_t)&pulled[i], 8, i, 0, 0, 0};
        rw_queue_put(asked, &element);
    }
    rw_queue_publish(asked);
    *same = 0;
    for (uint64_t i = 0; i < ELEMENTS; i++) {
        while (!rw_queue_take(ended, &ending)) {
        }
        *same += ending.status == RACKWRIGHT_OK && ending.tag == i && pulled[i] == pushed[i];
    }
    rw_queue_release(ended);
    return rackwright_cycles() - start;
}

int main(void)
{
    unsigned first_same, again_same;
    rw_queue *asked = rw_queue_create(ELEMENTS, sizeof(rw_descriptor)), *ended = rw_queue_create(ELEMENTS, sizeof(rw_ending));
    rw_tile_open(0, asked, ended);
    uint64_t first = there_and_back(asked, ended, 0, &first_same), again = there_and_back(asked, ended, 1, &again_same);
    bool closed = rw_tile_close(0) == RW_TILE_CLOSED;
    printf("%u %lu %u %lu\n", first_same, (unsigned long)first, again_same, (unsigned long)again);
    return !closed;
}
