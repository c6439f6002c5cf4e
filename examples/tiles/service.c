/* A service that copies, behind two queues: the unit of tile 0, or a thread. Usage: service unit|program TEXT... */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "rackwright/queue.h"
#include "rackwright/rocc.h"
#include "rackwright/status.h"

static rw_queue *asked, *ended;

/* What the unit does, by a thread. */
static void *serve(void *nothing)
{
    rw_descriptor request;
    while (rw_queue_pop(asked, &request)) {
        rw_ending ending = {request.tag, RACKWRIGHT_OUTPUT_FULL, 0, 0};
        if (request.source_bytes <= request.capacity) {
            memcpy((void *)(uintptr_t)request.destination, (const void *)(uintptr_t)request.source, request.source_bytes);
            ending = (rw_ending){request.tag, RACKWRIGHT_OK, request.source_bytes, request.source_bytes};
        }
        rw_queue_push(ended, &ending);
    }
    return nothing;
}

/* The client, which does not know who serves. */
static int ask(const char *text, char *copy, size_t room, uint64_t tag)
{
    const rw_descriptor request = {(uintptr_t)text, strlen(text) + 1, (uintptr_t)copy, room, tag, 0, 0, 0};
    rw_ending ending;
    rw_queue_push(asked, &request);
    return rw_queue_pop(ended, &ending) && ending.tag == tag && ending.status == RACKWRIGHT_OK;
}

int main(int count, char **words)
{
    if (count < 3) return fprintf(stderr, "usage: service unit|program TEXT...\n"), 2;
    const bool by_unit = strcmp(words[1], "unit") == 0;
    asked = rw_queue_create(16, sizeof(rw_descriptor)), ended = rw_queue_create(16, sizeof(rw_ending));
    pthread_t thread;
    if (by_unit) rw_tile_open(0, asked, ended);
    else if (pthread_create(&thread, NULL, serve, NULL) != 0) return 1;

    const uint64_t begin = rackwright_cycles();
    for (int word = 2; word < count; word++) {
        char copy[64];
        if (ask(words[word], copy, sizeof copy, (uint64_t)word)) printf("%s\n", copy);
        else printf("refused\n");
    }
    fprintf(stderr, "%lu cycles\n", (unsigned long)(rackwright_cycles() - begin));

    if (by_unit) return rw_tile_close(0) != RW_TILE_CLOSED;
    rw_queue_close(asked);
    return pthread_join(thread, NULL);
}
