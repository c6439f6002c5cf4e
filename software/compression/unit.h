/* One operation of a unit that turns one buffer into another: the commands that all of them share.
 * The contract is on the units' pages under hardware/. */
#ifndef RACKWRIGHT_COMPRESSION_UNIT_H
#define RACKWRIGHT_COMPRESSION_UNIT_H

#include "rackwright/rocc.h"
#include "rackwright/status.h"

#define UNIT_SRC 1              /* rs1 address and rs2 bytes of the input */
#define UNIT_DEST_AND_START 2   /* rs1 address of the output, rs2 of a flag or 0 */
#define UNIT_CHECK_COMPLETION 3 /* waits for all operations */
#define UNIT_FORMAT 5           /* deflate-decompress: rs1 what stands around the data */
#define UNIT_COMPRESSED_FORMAT 6 /* deflate-compress: the same */
#define UNIT_LIMIT 16           /* rs1 capacity of the output, rs2 address of a record or 0 */
#define UNIT_STATUS 17          /* answers the status of the last completed operation */
#define UNIT_OUTPUT_BYTES 18    /* answers its output bytes */

/* custom-n of the units; literals, because they become part of instructions. */
#define UNIT_DECOMPRESS 0
#define UNIT_COMPRESS 1

/* Runs one operation on `custom`; yields its output bytes, or (size_t)-status. */
#define UNIT_RUN(custom, dst, capacity, src, size)                                             \
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

#endif
