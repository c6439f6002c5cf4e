/* A process of Linux has the unit of a tile copy a file: FROM TO. */
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "rackwright/process_queue.h"

int main(int count, char **words)
{
    FILE *from = count == 3 ? fopen(words[1], "rb") : NULL;
    struct stat status;
    if (!from || fstat(fileno(from), &status) != 0) return 2;
    const size_t bytes = (size_t)status.st_size;
    void *source = mmap(NULL, bytes, PROT_READ, MAP_PRIVATE, fileno(from), 0);
    void *target = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (source == MAP_FAILED || target == MAP_FAILED) return 2;

    rw_queue *asked = rw_queue_create(16, sizeof(rw_descriptor)), *ended = rw_queue_create(16, sizeof(rw_ending));
    rw_endpoint endpoint;
    if (!rw_endpoint_open(&endpoint, 0, asked, ended)) return 3;
    const rw_descriptor descriptor = {(uintptr_t)source, bytes, (uintptr_t)target, bytes, 1, 0, 0, 0};
    rackwright_residence residence = {0, 0};
    rw_ending ending;
    do {
        if (!rw_endpoint_push(&endpoint, &descriptor) || !rw_endpoint_pop(&endpoint, &ending)) return 4;
    } while (rw_ending_serve(&residence, &ending, &descriptor)); /* again, with the pages that were missing */
    if (ending.status != RACKWRIGHT_OK) return 5;
    rw_endpoint_close(&endpoint);

    FILE *to = fopen(words[2], "wb");
    return !to || fwrite(target, 1, bytes, to) != bytes || fclose(to) != 0;
}
