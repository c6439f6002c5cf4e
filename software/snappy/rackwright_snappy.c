#include "rackwright_snappy.h"

#include "rackwright/rocc.h"
#include "snappy_commands.h"
#include "snappy_process.h"

/* One start: ranges, limit and record are latched by the start itself, so nothing of one operation
 * can leak into the next. The flag operand is 0 because the record says more. */
#define START(unit, input, input_bytes, output, capacity, record)                              \
    do {                                                                                       \
        (record)->flag_and_bytes = 0;                                                          \
        rackwright_fence();                                                                    \
        RACKWRIGHT_COMMAND(unit, SNAPPY_SRC, input, input_bytes);                              \
        RACKWRIGHT_COMMAND(unit, SNAPPY_LIMIT, capacity, record);                              \
        RACKWRIGHT_COMMAND(unit, SNAPPY_DEST_AND_START, output, 0);                            \
    } while (0)

static uint64_t read_flag(const rackwright_snappy_record *record)
{
    return __atomic_load_n(&record->flag_and_bytes, __ATOMIC_ACQUIRE);
}

/* What a completed record says. */
static rackwright_snappy_result decode(const rackwright_snappy_record *record)
{
    const uint64_t word = read_flag(record);
    const rackwright_snappy_result result = {
        .status = (rackwright_status)((word & 0xff) - 1),
        .output_bytes = word >> 8,
        .input_offset = record->input_offset,
    };
    return result;
}

/* The outcome of the last operation from the unit's own registers: they also tell of an operation
 * whose record could not be written. */
#define LAST_RESULT(unit)                                                                      \
    ((rackwright_snappy_result){                                                               \
        .status = (rackwright_status)RACKWRIGHT_QUERY(unit, SNAPPY_STATUS),                    \
        .output_bytes = RACKWRIGHT_QUERY(unit, SNAPPY_OUTPUT_BYTES),                           \
        .input_offset = RACKWRIGHT_QUERY(unit, SNAPPY_INPUT_OFFSET),                           \
    })

size_t rackwright_snappy_max_compressed_bytes(size_t input_bytes)
{
    return 32 + input_bytes + input_bytes / 6;
}

void rackwright_snappy_start_compress(const void *input, size_t input_bytes, void *output,
                                      size_t capacity, rackwright_snappy_record *record)
{
    if (rackwright_shares_units()) {
        rackwright_snappy_describe(record, true, input, input_bytes, output, capacity);
        rackwright_snappy_start_shared(record);
        return;
    }
    START(SNAPPY_COMPRESS_CUSTOM, input, input_bytes, output, capacity, record);
}

void rackwright_snappy_start_uncompress(const void *input, size_t input_bytes, void *output,
                                        size_t capacity, rackwright_snappy_record *record)
{
    if (rackwright_shares_units()) {
        rackwright_snappy_describe(record, false, input, input_bytes, output, capacity);
        rackwright_snappy_start_shared(record);
        return;
    }
    START(SNAPPY_DECOMPRESS_CUSTOM, input, input_bytes, output, capacity, record);
}

rackwright_snappy_result rackwright_snappy_compress(const void *input, size_t input_bytes,
                                                    void *output, size_t capacity)
{
    rackwright_snappy_record record;
    if (rackwright_shares_units()) {
        rackwright_snappy_describe(&record, true, input, input_bytes, output, capacity);
        rackwright_snappy_start_shared(&record);
        return rackwright_snappy_wait(&record);
    }
    START(SNAPPY_COMPRESS_CUSTOM, input, input_bytes, output, capacity, &record);
    (void)RACKWRIGHT_QUERY(SNAPPY_COMPRESS_CUSTOM, SNAPPY_CHECK_COMPLETION);
    rackwright_fence();
    return LAST_RESULT(SNAPPY_COMPRESS_CUSTOM);
}

rackwright_snappy_result rackwright_snappy_uncompress(const void *input, size_t input_bytes,
                                                      void *output, size_t capacity)
{
    rackwright_snappy_record record;
    if (rackwright_shares_units()) {
        rackwright_snappy_describe(&record, false, input, input_bytes, output, capacity);
        rackwright_snappy_start_shared(&record);
        return rackwright_snappy_wait(&record);
    }
    START(SNAPPY_DECOMPRESS_CUSTOM, input, input_bytes, output, capacity, &record);
    (void)RACKWRIGHT_QUERY(SNAPPY_DECOMPRESS_CUSTOM, SNAPPY_CHECK_COMPLETION);
    rackwright_fence();
    return LAST_RESULT(SNAPPY_DECOMPRESS_CUSTOM);
}

bool rackwright_snappy_is_done(const rackwright_snappy_record *record)
{
    return read_flag(record) != 0;
}

rackwright_snappy_result rackwright_snappy_wait(rackwright_snappy_record *record)
{
    if (rackwright_shares_units()) {
        rackwright_snappy_finish_shared(record);
    } else {
        while (!rackwright_snappy_is_done(record)) {
        }
    }
    rackwright_fence();
    return decode(record);
}

void rackwright_snappy_set_history(size_t bytes)
{
    rackwright_snappy_settings.history = bytes;
    if (rackwright_shares_units()) return;
    RACKWRIGHT_COMMAND(SNAPPY_DECOMPRESS_CUSTOM, SNAPPY_ON_CHIP_HISTORY, bytes, 0);
}

void rackwright_snappy_set_hash_table_log2(unsigned log2_entries)
{
    rackwright_snappy_settings.hash_table_log2 = log2_entries;
    if (rackwright_shares_units()) return;
    RACKWRIGHT_COMMAND(SNAPPY_COMPRESS_CUSTOM, SNAPPY_HASH_TABLE_LOG2, log2_entries, 0);
}

void rackwright_snappy_set_max_offset(size_t bytes)
{
    rackwright_snappy_settings.max_offset = bytes;
    if (rackwright_shares_units()) return;
    RACKWRIGHT_COMMAND(SNAPPY_COMPRESS_CUSTOM, SNAPPY_MAX_OFFSET, bytes, 0);
}
