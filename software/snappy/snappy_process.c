#include "snappy_process.h"

#include "rackwright/operation.h"
#include "snappy_commands.h"

snappy_settings rackwright_snappy_settings;

void rackwright_snappy_describe(rackwright_snappy_record *record, bool compresses, const void *input,
                                size_t input_bytes, void *output, size_t capacity)
{
    record->input = input;
    record->input_bytes = input_bytes;
    record->output = output;
    record->capacity = capacity;
    record->compresses = compresses;
}

/* A setting of 0 is left out. */
static void start_compress(const rackwright_snappy_record *record)
{
    const snappy_settings *set = &rackwright_snappy_settings;
    const uint64_t input = (uint64_t)record->input;
    RACKWRIGHT_RESTARTABLE(
        "beqz %[offset], 71f\n\t" RACKWRIGHT_TEXT_OF(SNAPPY_COMPRESS_CUSTOM, SNAPPY_MAX_OFFSET, "%[offset]", "x0")
        "71:\n\t"
        "beqz %[table], 72f\n\t" RACKWRIGHT_TEXT_OF(SNAPPY_COMPRESS_CUSTOM, SNAPPY_HASH_TABLE_LOG2, "%[table]", "x0")
        "72:\n\t" RACKWRIGHT_TEXT_OF(SNAPPY_COMPRESS_CUSTOM, SNAPPY_SRC, "%[input]", "%[bytes]")
            RACKWRIGHT_TEXT_OF(SNAPPY_COMPRESS_CUSTOM, SNAPPY_LIMIT, "%[capacity]", "%[record]")
                RACKWRIGHT_TEXT_OF(SNAPPY_COMPRESS_CUSTOM, SNAPPY_DEST_AND_START, "%[output]", "x0"),
        [offset] "r"(set->max_offset), [table] "r"((uint64_t)set->hash_table_log2), [input] "r"(input),
        [bytes] "r"(record->input_bytes), [output] "r"(record->output), [capacity] "r"(record->capacity),
        [record] "r"(record));
}

static void start_uncompress(const rackwright_snappy_record *record)
{
    const snappy_settings *set = &rackwright_snappy_settings;
    RACKWRIGHT_RESTARTABLE(
        "beqz %[history], 71f\n\t" RACKWRIGHT_TEXT_OF(SNAPPY_DECOMPRESS_CUSTOM, SNAPPY_ON_CHIP_HISTORY, "%[history]", "x0")
        "71:\n\t" RACKWRIGHT_TEXT_OF(SNAPPY_DECOMPRESS_CUSTOM, SNAPPY_SRC, "%[input]", "%[bytes]")
            RACKWRIGHT_TEXT_OF(SNAPPY_DECOMPRESS_CUSTOM, SNAPPY_LIMIT, "%[capacity]", "%[record]")
                RACKWRIGHT_TEXT_OF(SNAPPY_DECOMPRESS_CUSTOM, SNAPPY_DEST_AND_START, "%[output]", "x0"),
        [history] "r"(set->history), [input] "r"(record->input), [bytes] "r"(record->input_bytes),
        [output] "r"(record->output), [capacity] "r"(record->capacity), [record] "r"(record));
}

void rackwright_snappy_start_shared(rackwright_snappy_record *record)
{
    __atomic_store_n(&record->flag_and_bytes, 0, __ATOMIC_RELAXED);
    rackwright_fence();
    if (record->compresses) {
        start_compress(record);
    } else {
        start_uncompress(record);
    }
}

/* As `rackwright_operation` wants it. */
static void start_again(void *record)
{
    rackwright_snappy_start_shared(record);
}

void rackwright_snappy_finish_shared(rackwright_snappy_record *record)
{
    const rackwright_operation operation = {
        .flag = &record->flag_and_bytes,
        .source = {(uint64_t)record->input, record->input_bytes, false},
        .destination = {(uint64_t)record->output, record->capacity, true},
        .compresses = record->compresses,
        .start = start_again,
        .request = record,
    };
    rackwright_finish(&operation);
}
