/* The Snappy units from a process of an operating system; see rackwright/process.h. */
#ifndef RACKWRIGHT_SNAPPY_PROCESS_H
#define RACKWRIGHT_SNAPPY_PROCESS_H

#include "rackwright/process.h"
#include "rackwright_snappy.h"

/* What this process has set; 0 where it leaves the unit's own value. Sent with each start, as other processes do the same. */
typedef struct {
    size_t history;
    size_t max_offset;
    unsigned hash_table_log2;
} snappy_settings;

extern snappy_settings rackwright_snappy_settings;

/* Notes in `record` what is asked. */
void rackwright_snappy_describe(rackwright_snappy_record *record, bool compresses, const void *input,
                                size_t input_bytes, void *output, size_t capacity);

/* Starts what `record` describes. */
void rackwright_snappy_start_shared(rackwright_snappy_record *record);

/* Waits for its end, and repeats it as long as pages were missing that can be had. */
void rackwright_snappy_finish_shared(rackwright_snappy_record *record);

#endif
