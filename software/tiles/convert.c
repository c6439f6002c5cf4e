/* Has the unit of tile 0 convert a file, and then half of it: two descriptors are under way at a time.
 *
 *     convert INPUT OUTPUT ROOM [SETTING...]
 *
 * writes the first output, of at most ROOM bytes, and prints the statuses of both. A setting is a command of the unit and
 * its value, as 6=1; 4@FILE is the address of the contents of a file, and 4@FILE+ that address, and their bytes in command 5. */
#include <stdio.h>
#include <stdlib.h>

#include "rackwright/queue.h"
#include "rackwright/status.h"

enum { WHOLE, HALF, CONVERSIONS };

/* What is in a file, at the beginning of a line of memory; ends the program if there is no such file. */
static unsigned char *contents(const char *path, size_t *bytes)
{
    FILE *file = fopen(path, "rb");
    if (!file || fseek(file, 0, SEEK_END)) exit(2);
    *bytes = (size_t)ftell(file);
    rewind(file);
    unsigned char *data = (unsigned char *)aligned_alloc(RW_LINE_BYTES, *bytes / RW_LINE_BYTES * RW_LINE_BYTES + RW_LINE_BYTES);
    if (!data || fread(data, 1, *bytes, file) != *bytes) exit(2);
    fclose(file);
    return data;
}

static void set(char *word)
{
    char *rest;
    const unsigned funct = (unsigned)strtoul(word, &rest, 10);
    if (*rest == '=') return rw_tile_set(0, funct, strtoull(rest + 1, NULL, 0));
    const size_t last = strlen(rest) - 1;
    const bool with_bytes = rest[last] == '+';
    if (with_bytes) rest[last] = 0;
    size_t bytes;
    rw_tile_set(0, funct, (uintptr_t)contents(rest + 1, &bytes));
    if (with_bytes) rw_tile_set(0, funct + 1, bytes);
}

int main(int count, char **words)
{
    if (count < 4) return 2;
    size_t bytes;
    const unsigned char *from = contents(words[1], &bytes);
    FILE *output = fopen(words[2], "wb");
    const size_t room = strtoul(words[3], NULL, 10);
    char *to[CONVERSIONS] = {malloc(room), malloc(room)};
    if (!output || !to[WHOLE] || !to[HALF]) return 2;

    rw_queue *asked = rw_queue_create(4, sizeof(rw_descriptor)), *ended = rw_queue_create(4, sizeof(rw_ending));
    for (int word = 4; word < count; word++) set(words[word]);
    rw_tile_open(0, asked, ended);
    for (uint64_t tag = 0; tag < CONVERSIONS; tag++) {
        const rw_descriptor descriptor = {(uintptr_t)from, tag == HALF ? bytes / 2 : bytes, (uintptr_t)to[tag], room, tag, 0, 0, 0};
        rw_queue_push(asked, &descriptor);
    }
    for (uint64_t tag = 0; tag < CONVERSIONS; tag++) {
        rw_ending ending;
        if (!rw_queue_pop(ended, &ending) || ending.tag != tag) return 3;
        printf("%s\n", rackwright_status_name((rackwright_status)ending.status));
        /* `drx` counts bytes again that it stores again. */
        const size_t made = ending.output_bytes < room ? ending.output_bytes : room;
        if (tag == WHOLE && fwrite(to[WHOLE], 1, made, output) != made) return 3;
    }
    return rw_tile_close(0) != RW_TILE_CLOSED || fclose(output) != 0;
}
