/* How programs reach snappy-compress, snappy-decompress.
 *
 * Made of their manifests by `pytest tests/test_headers.py --update-docs`. */
#ifndef RACKWRIGHT_SNAPPY_COMMANDS_H
#define RACKWRIGHT_SNAPPY_COMMANDS_H

#define SNAPPY_COMPRESS_CUSTOM 1 /* snappy-compress: n of custom-n */
#define SNAPPY_SFENCE 0
#define SNAPPY_SRC 1 /* rs1: address of the input, rs2: its bytes */
#define SNAPPY_DEST_AND_START 2 /* rs1: address of the output, rs2: address of a flag of 8 bytes, or 0 */
#define SNAPPY_CHECK_COMPLETION 3 /* answers operations completed since reset, when all that were started have */
#define SNAPPY_MAX_OFFSET 4 /* rs1: bytes that matches reach back */
#define SNAPPY_HASH_TABLE_LOG2 5 /* rs1: log2 of the entries of the hash table */
#define SNAPPY_LIMIT 16 /* rs1: capacity of the next output, rs2: address of its completion record, or 0 */
#define SNAPPY_STATUS 17 /* answers status of the operation completed last */
#define SNAPPY_OUTPUT_BYTES 18 /* answers bytes that it wrote */
#define SNAPPY_INPUT_OFFSET 19 /* answers bytes that it consumed, or where its input is wrong */
#define SNAPPY_VERSION 20 /* answers 1 */
#define SNAPPY_FAULT 127 /* answers where an access was refused, if the unit translates addresses */
#define SNAPPY_RECORD_ENDED 0 /* first of 8 bits of the record: 1 + status; 0 before */
#define SNAPPY_RECORD_OUTPUT_BYTES 8 /* first of 56 bits of the record: bytes written */
#define SNAPPY_RECORD_INPUT_OFFSET 64 /* first of 64 bits of the record: bytes consumed, or where the input is wrong */

#define SNAPPY_DECOMPRESS_CUSTOM 0 /* snappy-decompress: n of custom-n */
#define SNAPPY_ON_CHIP_HISTORY 4 /* rs1: bytes of history that are used */

#endif
