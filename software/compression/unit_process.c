#include "unit_process.h"

#include "rackwright/operation.h"
#include "rackwright/status.h"
#include "unit_commands.h"

/* What is asked, behind the completion record that tells how it went. */
typedef struct {
    uint64_t flag_and_bytes; /* 0 while under way; then 1 + status | output bytes << 8 */
    uint64_t input_offset;
    bool compresses;
    unit_format format;
    int64_t wrapper; /* of DEFLATE, or below 0 */
    void *dst;
    size_t capacity;
    const void *src;
    size_t size;
} __attribute__((aligned(16))) unit_request;

/* The commands of one operation. The format is sent each time: other processes have other ones. */
#define START(custom, wrapper_funct, request)                                                  \
    RACKWRIGHT_RESTARTABLE(                                                                    \
        RACKWRIGHT_TEXT_OF(custom, UNIT_ALGORITHM, "%[format]", "x0") "bltz %[wrapper], 71f\n\t" RACKWRIGHT_TEXT_OF(custom, wrapper_funct, "%[wrapper]", "x0") \
        "71:\n\t" RACKWRIGHT_TEXT_OF(custom, UNIT_SRC, "%[src]", "%[size]")                    \
            RACKWRIGHT_TEXT_OF(custom, UNIT_LIMIT, "%[capacity]", "%[record]")                 \
                RACKWRIGHT_TEXT_OF(custom, UNIT_DEST_AND_START, "%[dst]", "x0"),               \
        [format] "r"((uint64_t)(request)->format), [wrapper] "r"((request)->wrapper), [src] "r"((request)->src), [size] "r"((request)->size), \
        [capacity] "r"((request)->capacity), [record] "r"(request), [dst] "r"((request)->dst))

static void start(void *given)
{
    unit_request *request = given;
    __atomic_store_n(&request->flag_and_bytes, 0, __ATOMIC_RELAXED);
    rackwright_fence();
    if (request->compresses) {
        START(COMBINED_COMPRESS_CUSTOM, DEFLATE_COMPRESS_FORMAT, request);
    } else {
        START(COMBINED_DECOMPRESS_CUSTOM, DEFLATE_DECOMPRESS_FORMAT, request);
    }
}

size_t unit_run_shared(bool compresses, unit_format format, void *dst, size_t capacity,
                       const void *src, size_t size)
{
    unit_request request = {0,   0,        compresses, format, unit_wrapper(format),
                            dst, capacity, src,        size};
    const rackwright_operation operation = {
        .flag = &request.flag_and_bytes,
        .source = {(uint64_t)src, size, false},
        .destination = {(uint64_t)dst, capacity, true},
        .compresses = compresses,
        .start = start,
        .request = &request,
    };
    start(&request);
    rackwright_finish(&operation);
    rackwright_fence();
    const uint64_t word = __atomic_load_n(&request.flag_and_bytes, __ATOMIC_ACQUIRE);
    const uint64_t status = (word & 0xff) - 1;
    return status == RACKWRIGHT_OK ? (size_t)(word >> 8) : (size_t)0 - (size_t)status;
}
