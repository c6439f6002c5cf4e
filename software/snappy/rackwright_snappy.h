/* Driver of the Snappy units: compress in custom-1, decompress in custom-0.
 *
 * Two ways to use a unit:
 *   - synchronous: rackwright_snappy_compress() and rackwright_snappy_uncompress() start one
 *     operation and return its result;
 *   - queued: rackwright_snappy_start_*() returns as soon as the unit has taken the command, and
 *     rackwright_snappy_wait() gives the result later. Each operation names its own completion
 *     record. A unit works through its operations in order; when its queue is full, a start waits.
 *
 * A range may have any alignment and any length, zero included. Input and output of one operation
 * must not overlap. Whatever the input holds, the unit ends, stays inside the two ranges, and
 * says how it went. Neither way is safe to use from two threads at once.
 *
 * In a process of an operating system, pages of the ranges need not be there; an operation is repeated when they are
 * (rackwright/process.h). Other processes may use the same units; each has its own settings.
 */
#ifndef RACKWRIGHT_SNAPPY_H
#define RACKWRIGHT_SNAPPY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rackwright/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Where a unit writes how an operation ended, after all of its output. Opaque: read it with the
 * functions below. It must stay where it is until the operation has completed. */
typedef struct {
    uint64_t flag_and_bytes; /* 0 while under way; then 1 + status | output bytes << 8 */
    uint64_t input_offset;
    /* What was asked, to ask it again: only in a process of an operating system. */
    const void *input;
    size_t input_bytes;
    void *output;
    size_t capacity;
    bool compresses;
} __attribute__((aligned(16))) rackwright_snappy_record;

/* The outcome of one operation. */
typedef struct {
    rackwright_status status;
    size_t output_bytes; /* bytes written to the output */
    size_t input_offset; /* bytes of the input consumed; where it was wrong if malformed */
} rackwright_snappy_result;

/* The largest output that compressing `input_bytes` bytes can have: with so much room a
 * compression never ends output_full. The bound is the official library's. */
size_t rackwright_snappy_max_compressed_bytes(size_t input_bytes);

/* Compresses `input_bytes` bytes of `input` into at most `capacity` bytes of `output`. */
rackwright_snappy_result rackwright_snappy_compress(const void *input, size_t input_bytes,
                                                    void *output, size_t capacity);

/* Decompresses; `capacity` below the length that the input declares gives output_full. */
rackwright_snappy_result rackwright_snappy_uncompress(const void *input, size_t input_bytes,
                                                      void *output, size_t capacity);

/* Starts a compression and returns once the unit has taken it. */
void rackwright_snappy_start_compress(const void *input, size_t input_bytes, void *output,
                                      size_t capacity, rackwright_snappy_record *record);

/* Starts a decompression and returns once the unit has taken it. */
void rackwright_snappy_start_uncompress(const void *input, size_t input_bytes, void *output,
                                        size_t capacity, rackwright_snappy_record *record);

/* Whether the operation of `record` has completed; does not wait. */
bool rackwright_snappy_is_done(const rackwright_snappy_record *record);

/* Waits for the operation of `record`, then tells how it ended. */
rackwright_snappy_result rackwright_snappy_wait(rackwright_snappy_record *record);

/* Bytes of history that decompressions started from now on keep on chip, from 2 KiB up to what
 * the unit was built with; another value makes them end `unsupported`. */
void rackwright_snappy_set_history(size_t bytes);

/* Entries of the hash table that compressions started from now on use, as a power of two from 9
 * up to what the unit was built with; another value makes them end `unsupported`. */
void rackwright_snappy_set_hash_table_log2(unsigned log2_entries);

/* The farthest back that compressions started from now on look for a match, in bytes. */
void rackwright_snappy_set_max_offset(size_t bytes);

#ifdef __cplusplus
}
#endif

#endif
