/* One operation of a unit that turns one buffer into another, whichever format it has.
 * The contract is on the units' pages under hardware/. */
#ifndef RACKWRIGHT_COMPRESSION_UNIT_H
#define RACKWRIGHT_COMPRESSION_UNIT_H

#include <stddef.h>
#include <stdint.h>

/* What stands around DEFLATE data: arguments of the units' commands. Units of other formats get no such command. */
typedef enum { UNIT_NO_WRAPPER = -1, UNIT_DEFLATE, UNIT_ZLIB, UNIT_GZIP } unit_wrapper;

/* Runs one operation on the unit in custom-0 or custom-1; yields its output bytes, or (size_t)-status. */
size_t unit_decompress(unit_wrapper wrapper, void *dst, size_t capacity, const void *src, size_t size);
size_t unit_compress(unit_wrapper wrapper, void *dst, size_t capacity, const void *src, size_t size);

#endif
