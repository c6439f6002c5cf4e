/* Copies a file by the unit on tile 0: descriptors go into one queue, their endings come out of the other.
 *
 * Usage: copy INPUT OUTPUT. At most WINDOW copies are under way, so that the two queues cannot stand still
 * (`./rw tiles check examples/tiles/two-by-two.yaml --graph examples/tiles/copy.graph.yaml`).
 */
#include <stdio.h>

#include "rackwright/queue.h"
#include "rackwright/status.h"

enum { WINDOW = 16, BLOCK = 4096 };

static char *read_file(const char *path, size_t *bytes)
{
    FILE *file = fopen(path, "rb");
    if (!file || fseek(file, 0, SEEK_END)) return NULL;
    *bytes = (size_t)ftell(file);
    rewind(file);
    char *data = malloc(*bytes + 1);
    if (data && fread(data, 1, *bytes, file) != *bytes) data = NULL;
    fclose(file);
    return data;
}

static int write_file(const char *path, const char *data, size_t bytes)
{
    FILE *file = fopen(path, "wb");
    return file && fwrite(data, 1, bytes, file) == bytes && !fclose(file);
}

/* Copies by blocks; gives how many failed. */
static int copy(rw_queue *asked, rw_queue *ended, const char *from, char *to, size_t bytes)
{
    size_t blocks = (bytes + BLOCK - 1) / BLOCK, begun = 0, done = 0;
    int failed = 0;
    while (done < blocks) {
        rw_ending ending;
        if (begun < blocks && begun - done < WINDOW) {
            size_t at = begun * BLOCK, size = bytes - at < BLOCK ? bytes - at : BLOCK;
            rw_descriptor descriptor = {(uintptr_t)from + at, size, (uintptr_t)to + at, size, begun, 0, 0, 0};
            rw_queue_push(asked, &descriptor);
            begun++;
        } else if (rw_queue_pop(ended, &ending)) {
            if (ending.tag != done || ending.status != RACKWRIGHT_OK) failed++;
            done++;
        }
    }
    return failed;
}

int main(int count, char **words)
{
    if (count != 3) return fprintf(stderr, "usage: copy INPUT OUTPUT\n"), 2;
    size_t bytes = 0;
    char *from = read_file(words[1], &bytes);
    if (!from) return perror(words[1]), 1;
    char *to = calloc(bytes + 1, 1);
    rw_queue *asked = rw_queue_create(WINDOW, sizeof(rw_descriptor));
    rw_queue *ended = rw_queue_create(WINDOW, sizeof(rw_ending));
    rw_tile_open(0, asked, ended);
    int failed = copy(asked, ended, from, to, bytes);
    if (rw_tile_close(0) != RW_TILE_CLOSED) failed++;
    if (!write_file(words[2], to, bytes)) return perror(words[2]), 1;
    printf("%zu bytes copied by the tile, %d blocks failed\n", bytes, failed);
    return failed != 0;
}
