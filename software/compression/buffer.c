#include "buffer.h"

#include <stdlib.h>
#include <string.h>

bool buffer_reserve(buffer *waiting, size_t bytes)
{
    const size_t size = buffer_size(waiting);
    if (waiting->begin != 0) memmove(waiting->memory, waiting->memory + waiting->begin, size);
    waiting->begin = 0;
    waiting->end = size;
    if (bytes <= waiting->capacity - size) return true;
    const size_t capacity = size + bytes > 2 * waiting->capacity ? size + bytes : 2 * waiting->capacity;
    unsigned char *memory = realloc(waiting->memory, capacity);
    if (memory == NULL) return false;
    waiting->memory = memory;
    waiting->capacity = capacity;
    return true;
}

bool buffer_append(buffer *waiting, const void *src, size_t bytes)
{
    if (bytes == 0) return true;
    if (!buffer_reserve(waiting, bytes)) return false;
    memcpy(waiting->memory + waiting->end, src, bytes);
    waiting->end += bytes;
    return true;
}

size_t buffer_take(buffer *waiting, void *dst, size_t bytes)
{
    const size_t size = buffer_size(waiting), taken = bytes < size ? bytes : size;
    if (taken == 0) return 0;
    memcpy(dst, waiting->memory + waiting->begin, taken);
    waiting->begin += taken;
    return taken;
}
