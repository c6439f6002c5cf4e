#include "unit.h"

#include "rackwright/process.h"
#include "rackwright/rocc.h"
#include "rackwright/status.h"
#include "unit_commands.h"
#include "unit_process.h"

/* Runs one operation on `custom`, whose program has the unit to itself. */
#define RUN(custom, dst, capacity, src, size)                                                  \
    (__extension__({                                                                           \
        rackwright_fence();                                                                    \
        RACKWRIGHT_COMMAND(custom, UNIT_SRC, src, size);                                       \
        RACKWRIGHT_COMMAND(custom, UNIT_LIMIT, capacity, 0);                                   \
        RACKWRIGHT_COMMAND(custom, UNIT_DEST_AND_START, dst, 0);                               \
        (void)RACKWRIGHT_QUERY(custom, UNIT_CHECK_COMPLETION);                                 \
        rackwright_fence();                                                                    \
        const uint64_t unit_status = RACKWRIGHT_QUERY(custom, UNIT_STATUS);                    \
        unit_status == RACKWRIGHT_OK ? (size_t)RACKWRIGHT_QUERY(custom, UNIT_OUTPUT_BYTES)     \
                                     : (size_t)0 - (size_t)unit_status;                        \
    }))

size_t unit_decompress(unit_format format, void *dst, size_t capacity, const void *src, size_t size)
{
    if (rackwright_shares_units()) return unit_run_shared(false, format, dst, capacity, src, size);
    const int64_t wrapper = unit_wrapper(format);
    if (wrapper >= 0) RACKWRIGHT_COMMAND(COMBINED_DECOMPRESS_CUSTOM, DEFLATE_DECOMPRESS_FORMAT, wrapper, 0);
    RACKWRIGHT_COMMAND(COMBINED_DECOMPRESS_CUSTOM, UNIT_ALGORITHM, format, 0);
    return RUN(COMBINED_DECOMPRESS_CUSTOM, dst, capacity, src, size);
}

size_t unit_compress(unit_format format, void *dst, size_t capacity, const void *src, size_t size)
{
    if (rackwright_shares_units()) return unit_run_shared(true, format, dst, capacity, src, size);
    const int64_t wrapper = unit_wrapper(format);
    if (wrapper >= 0) RACKWRIGHT_COMMAND(COMBINED_COMPRESS_CUSTOM, DEFLATE_COMPRESS_FORMAT, wrapper, 0);
    RACKWRIGHT_COMMAND(COMBINED_COMPRESS_CUSTOM, UNIT_ALGORITHM, format, 0);
    return RUN(COMBINED_COMPRESS_CUSTOM, dst, capacity, src, size);
}
