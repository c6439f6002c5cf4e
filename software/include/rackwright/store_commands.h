/* How programs reach store.
 *
 * Made of their manifests by `pytest tests/test_headers.py --update-docs`. */
#ifndef RACKWRIGHT_STORE_COMMANDS_H
#define RACKWRIGHT_STORE_COMMANDS_H

#define STORE_CUSTOM 2 /* store: n of custom-n */
#define STORE_SFENCE 0
#define STORE_SRC 1 /* rs1: address of the input, rs2: its bytes */
#define STORE_DEST_AND_START 2 /* rs1: address of the output, rs2: address of a flag of 8 bytes, or 0 */
#define STORE_CHECK_COMPLETION 3 /* answers operations completed since reset, when all that were started have */
#define STORE_REGION 4 /* rs1: where the store is: a multiple of 64 */
#define STORE_LIMIT 16 /* rs1: capacity of the next output, rs2: address of its completion record, or 0 */
#define STORE_STATUS 17 /* answers status of the operation completed last */
#define STORE_OUTPUT_BYTES 18 /* answers bytes that it wrote */
#define STORE_INPUT_OFFSET 19 /* answers bytes that it consumed, or where its input is wrong */
#define STORE_VERSION 20 /* answers 1 */
#define STORE_FAULT 127 /* answers where an access was refused, if the unit translates addresses */
#define STORE_RECORD_ENDED 0 /* first of 8 bits of the record: 1 + status; 0 before */
#define STORE_RECORD_OUTPUT_BYTES 8 /* first of 56 bits of the record: bytes written */
#define STORE_RECORD_INPUT_OFFSET 64 /* first of 64 bits of the record: bytes consumed, or where the input is wrong */

#endif
