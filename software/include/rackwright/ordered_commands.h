/* How programs reach ordered-index.
 *
 * Made of their manifests by `pytest tests/test_headers.py --update-docs`. */
#ifndef RACKWRIGHT_ORDERED_COMMANDS_H
#define RACKWRIGHT_ORDERED_COMMANDS_H

#define ORDERED_INDEX_CUSTOM 2 /* ordered-index: n of custom-n */
#define ORDERED_INDEX_SFENCE 0
#define ORDERED_INDEX_SRC 1 /* rs1: address of the input, rs2: its bytes */
#define ORDERED_INDEX_DEST_AND_START 2 /* rs1: address of the output, rs2: address of a flag of 8 bytes, or 0 */
#define ORDERED_INDEX_CHECK_COMPLETION 3 /* answers operations completed since reset, when all that were started have */
#define ORDERED_INDEX_NODES 4 /* rs1: where node 0 is: a multiple of 64 */
#define ORDERED_INDEX_ROOT 5 /* rs1: the number of the root in bits 31 to 0, the levels below it in bits 35 to 32 */
#define ORDERED_INDEX_NODE_LIMIT 6 /* rs1: every node has a number below this one */
#define ORDERED_INDEX_NEAR 7 /* rs1: of the nodes that are looked for in the cache first: their level in bits 3 to 0 (leaves have 0; 15: none), the logarithm of the keys of a block in bits 9 to 4 */
#define ORDERED_INDEX_WIDE 8 /* rs1: of the nodes that are looked for in the cache second: their level in bits 3 to 0 (leaves have 0; 15: none), the logarithm of the keys of a block in bits 9 to 4 */
#define ORDERED_INDEX_TREE_VERSION 9 /* rs1: the cache is emptied when it is another than that of the start before */
#define ORDERED_INDEX_LIMIT 16 /* rs1: capacity of the next output, rs2: address of its completion record, or 0 */
#define ORDERED_INDEX_STATUS 17 /* answers status of the operation completed last */
#define ORDERED_INDEX_OUTPUT_BYTES 18 /* answers bytes that it wrote */
#define ORDERED_INDEX_INPUT_OFFSET 19 /* answers bytes that it consumed, or where its input is wrong */
#define ORDERED_INDEX_VERSION 20 /* answers 1 */
#define ORDERED_INDEX_FAULT 127 /* answers where an access was refused, if the unit translates addresses */
#define ORDERED_INDEX_RECORD_ENDED 0 /* first of 8 bits of the record: 1 + status; 0 before */
#define ORDERED_INDEX_RECORD_OUTPUT_BYTES 8 /* first of 56 bits of the record: bytes written */
#define ORDERED_INDEX_RECORD_INPUT_OFFSET 64 /* first of 64 bits of the record: bytes consumed, or where the input is wrong */

#endif
