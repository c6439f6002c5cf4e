/* Bytes that wait: put in behind, taken from the front. */
#ifndef RACKWRIGHT_COMPRESSION_BUFFER_H
#define RACKWRIGHT_COMPRESSION_BUFFER_H

#include <stdbool.h>
#include <stddef.h>

typedef struct {
    unsigned char *memory;
    size_t begin, end, capacity;
} buffer;

static inline size_t buffer_size(const buffer *waiting)
{
    return waiting->end - waiting->begin;
}

/* Makes room for `bytes` more at `memory + end`. False without memory: nothing has changed. */
bool buffer_reserve(buffer *waiting, size_t bytes);

/* Puts bytes behind the others. False without memory. */
bool buffer_append(buffer *waiting, const void *src, size_t bytes);

/* Takes up to `bytes` from the front to `dst`; gives how many. */
size_t buffer_take(buffer *waiting, void *dst, size_t bytes);

#endif
