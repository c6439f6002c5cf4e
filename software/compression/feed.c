#include "rackwright_feed.h"

#include "rackwright/process.h"
#include "rackwright/rocc.h"
#include "unit.h"
#include "unit_commands.h"

static const unit_format unit_formats[] = {UNIT_ZSTD, UNIT_DEFLATE, UNIT_ZLIB, UNIT_GZIP, UNIT_SNAPPY};

/* Opcodes are part of instructions. */
#define QUERY(unit, funct)                                                                     \
    ((unit) == RACKWRIGHT_FEED_COMPRESSOR ? RACKWRIGHT_QUERY(COMBINED_COMPRESS_CUSTOM, funct)             \
                                          : RACKWRIGHT_QUERY(COMBINED_DECOMPRESS_CUSTOM, funct))

/* Begins an operation; those after this one have their input whole again. */
#define START(custom, wrapper_funct, format, dst, capacity, src, size)                         \
    do {                                                                                       \
        const unit_format asked = unit_formats[format];                                        \
        const int64_t wrapper = unit_wrapper(asked);                                           \
        rackwright_fence();                                                                    \
        if (wrapper >= 0) RACKWRIGHT_COMMAND(custom, wrapper_funct, wrapper, 0);               \
        RACKWRIGHT_COMMAND(custom, UNIT_ALGORITHM, asked, 0);                                  \
        RACKWRIGHT_COMMAND(custom, UNIT_MORE_INPUT, 1, 0);                                     \
        RACKWRIGHT_COMMAND(custom, UNIT_SRC, src, size);                                       \
        RACKWRIGHT_COMMAND(custom, UNIT_LIMIT, capacity, 0);                                   \
        RACKWRIGHT_COMMAND(custom, UNIT_DEST_AND_START, dst, 0);                               \
        RACKWRIGHT_COMMAND(custom, UNIT_MORE_INPUT, 0, 0);                                     \
    } while (0)

bool rackwright_feeds(rackwright_feed_unit unit)
{
    /* A unit that does not know the question answers with all ones. */
    return !rackwright_shares_units() && ~QUERY(unit, UNIT_WRITTEN) != 0;
}

void rackwright_feed_decompress(rackwright_feed_format format, void *dst, size_t capacity, const void *src, size_t size)
{
    START(COMBINED_DECOMPRESS_CUSTOM, DEFLATE_DECOMPRESS_FORMAT, format, dst, capacity, src, size);
}

void rackwright_feed_compress(rackwright_feed_format format, void *dst, size_t capacity, const void *src, size_t total)
{
    START(COMBINED_COMPRESS_CUSTOM, DEFLATE_COMPRESS_FORMAT, format, dst, capacity, src, total);
}

void rackwright_feed_more(rackwright_feed_unit unit, size_t bytes, bool last)
{
    rackwright_fence();
    if (unit == RACKWRIGHT_FEED_COMPRESSOR) {
        RACKWRIGHT_COMMAND(COMBINED_COMPRESS_CUSTOM, UNIT_EXTEND, bytes, 0);
    } else {
        RACKWRIGHT_COMMAND(COMBINED_DECOMPRESS_CUSTOM, UNIT_EXTEND, bytes, (uint64_t)last);
    }
}

size_t rackwright_feed_written(rackwright_feed_unit unit)
{
    const size_t written = QUERY(unit, UNIT_WRITTEN);
    rackwright_fence();
    return written;
}

size_t rackwright_feed_end(rackwright_feed_unit unit)
{
    (void)QUERY(unit, UNIT_CHECK_COMPLETION);
    rackwright_fence();
    const uint64_t status = QUERY(unit, UNIT_STATUS);
    return status == RACKWRIGHT_OK ? (size_t)QUERY(unit, UNIT_OUTPUT_BYTES) : (size_t)0 - (size_t)status;
}
