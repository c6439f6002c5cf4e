/* Function numbers (funct7) of the Snappy units' commands.
 *
 * 0 to 5 are those of the public units of the same kind, so software written for them runs
 * unchanged; from 16 on they are ours. The contract is on the units' pages under hardware/.
 */
#ifndef RACKWRIGHT_SNAPPY_COMMANDS_H
#define RACKWRIGHT_SNAPPY_COMMANDS_H

#define SNAPPY_SFENCE 0           /* nothing to do */
#define SNAPPY_SRC 1              /* rs1 address and rs2 bytes of the input */
#define SNAPPY_DEST_AND_START 2   /* rs1 address of the output, rs2 of an 8-byte flag or 0 */
#define SNAPPY_CHECK_COMPLETION 3 /* waits for all operations; answers how many since reset */
#define SNAPPY_ON_CHIP_HISTORY 4  /* decompress: rs1 bytes of history */
#define SNAPPY_MAX_OFFSET 4       /* compress: rs1 bytes */
#define SNAPPY_HASH_TABLE_LOG2 5  /* compress: rs1 log2 of the entries */
#define SNAPPY_LIMIT 16           /* rs1 capacity of the output, rs2 address of a record or 0 */
#define SNAPPY_STATUS 17          /* answers the status of the last completed operation */
#define SNAPPY_OUTPUT_BYTES 18    /* answers its output bytes */
#define SNAPPY_INPUT_OFFSET 19    /* answers its input offset */
#define SNAPPY_VERSION 20         /* answers 1 */

#endif
