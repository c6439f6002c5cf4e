/* Counts the one bits of its words by a unit of your own on a tile: each element is one of its commands. */
#include <stdio.h>
#include <string.h>

#include "rackwright/queue.h"
#include "rackwright/status.h"

enum { COUNT = 0, RESULT = 1 };

int main(int count, char **words)
{
    rw_queue *asked = rw_queue_create(16, sizeof(rw_command)), *ended = rw_queue_create(16, sizeof(rw_ending));
    rw_tile_open(0, asked, ended);
    for (int word = 1; word < count; word++) {
        const rw_command counts = {(uintptr_t)words[word], strlen(words[word]), COUNT, 0, 0, {0, 0, 0}};
        const rw_command asks = {0, 0, RESULT | RW_COMMAND_ANSWERS, 0, 0, {0, 0, 0}};
        uint64_t status;
        (void)rw_tile_command(asked, ended, &counts, &status);
        if (status != RACKWRIGHT_OK) return 1;
        const uint64_t ones = rw_tile_command(asked, ended, &asks, &status);
        if (status != RACKWRIGHT_OK) return 1;
        printf("%s has %lu ones\n", words[word], (unsigned long)ones);
    }
    return 0;
}
