/* Units from a process of an operating system; see rackwright/process.h. */
#ifndef RACKWRIGHT_COMPRESSION_UNIT_PROCESS_H
#define RACKWRIGHT_COMPRESSION_UNIT_PROCESS_H

#include <stdbool.h>

#include "unit.h"

/* As `unit_compress` or `unit_decompress`. Several threads may do so at once. */
size_t unit_run_shared(bool compresses, unit_format format, void *dst, size_t capacity,
                       const void *src, size_t size);

#endif
