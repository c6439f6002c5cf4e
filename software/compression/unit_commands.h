/* Function numbers of the commands that the units of all formats share, and which opcodes they answer to. */
#ifndef RACKWRIGHT_COMPRESSION_UNIT_COMMANDS_H
#define RACKWRIGHT_COMPRESSION_UNIT_COMMANDS_H

#define UNIT_SRC 1              /* rs1 address and rs2 bytes of the input */
#define UNIT_DEST_AND_START 2   /* rs1 address of the output, rs2 of a flag or 0 */
#define UNIT_CHECK_COMPLETION 3 /* waits for all operations */
#define UNIT_FORMAT 5           /* deflate-decompress: rs1 what stands around the data */
#define UNIT_COMPRESSED_FORMAT 6 /* deflate-compress: the same */
#define UNIT_ALGORITHM 12       /* units of several formats: rs1 the format; other units take and ignore it */
#define UNIT_MORE_INPUT 13      /* units with streaming=1: rs1 whether input follows; others take and ignore it */
#define UNIT_LIMIT 16           /* rs1 capacity of the output, rs2 address of a record or 0 */
#define UNIT_STATUS 17          /* answers the status of the last completed operation */
#define UNIT_OUTPUT_BYTES 18    /* answers its output bytes */
#define UNIT_VERSION 20         /* answers 1 */
#define UNIT_EXTEND 21          /* units with streaming=1: rs1 bytes more of the input, rs2 1 where none follow */
#define UNIT_WRITTEN 22         /* answers the bytes of the output that memory has */

/* custom-n of the units; literals, because they become part of instructions. */
#define UNIT_DECOMPRESS 0
#define UNIT_COMPRESS 1

#endif
