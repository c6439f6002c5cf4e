/* Calls of official libraries that units may answer: which do, and how many the libraries were left with. */
#ifndef RACKWRIGHT_COMPRESSION_OFFLOAD_H
#define RACKWRIGHT_COMPRESSION_OFFLOAD_H

#include "rackwright_compression.h"

/* One of the functions of rackwright_compression.h. */
typedef size_t offload_function(void *dst, size_t capacity, const void *src, size_t size);

/* Has the unit of `format` do it, if there is one; else, or if the unit refuses, an error comes back and the call
 * counts as the library's. */
size_t offload_compress(rackwright_format format, offload_function *by_unit, void *dst, size_t capacity,
                        const void *src, size_t size);
size_t offload_decompress(rackwright_format format, offload_function *by_unit, void *dst,
                          size_t capacity, const void *src, size_t size);

/* Counts a compression that is not even offered to a unit; gives the error. */
size_t offload_none(void);

#endif
