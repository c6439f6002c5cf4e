/* Has the unit of tile 0 convert a file, and then half of it: two descriptors are under way at a time.
 *
 *     convert INPUT OUTPUT ROOM      writes the first output, of at most ROOM bytes; prints the statuses of both */
#include <stdio.h>
#include <stdlib.h>

#include "rackwright/queue.h"
#include "rackwright/status.h"

enum { WHOLE, HALF, CONVERSIONS };

int main(int count, char **words)
{
    if (count != 4) return 2;
    const size_t room = strtoul(words[3], NULL, 10);
    FILE *input = fopen(words[1], "rb"), *output = fopen(words[2], "wb");
    if (!input || !output || fseek(input, 0, SEEK_END)) return 2;
    const size_t bytes = (size_t)ftell(input);
    rewind(input);
    char *from = malloc(bytes), *to[CONVERSIONS] = {malloc(room), malloc(room)};
    if (!from || !to[WHOLE] || !to[HALF] || fread(from, 1, bytes, input) != bytes) return 2;

    rw_queue *asked = rw_queue_create(4, sizeof(rw_descriptor)), *ended = rw_queue_create(4, sizeof(rw_ending));
    rw_tile_open(0, asked, ended);
    for (uint64_t tag = 0; tag < CONVERSIONS; tag++) {
        const rw_descriptor descriptor = {(uintptr_t)from, tag == HALF ? bytes / 2 : bytes, (uintptr_t)to[tag], room, tag, 0, 0, 0};
        rw_queue_push(asked, &descriptor);
    }
    for (uint64_t tag = 0; tag < CONVERSIONS; tag++) {
        rw_ending ending;
        if (!rw_queue_pop(ended, &ending) || ending.tag != tag) return 3;
        printf("%s\n", rackwright_status_name((rackwright_status)ending.status));
        if (tag == WHOLE && fwrite(to[WHOLE], 1, ending.output_bytes, output) != ending.output_bytes) return 3;
    }
    return rw_tile_close(0) != RW_TILE_CLOSED || fclose(output) != 0;
}
