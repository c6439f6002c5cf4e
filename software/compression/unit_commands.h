/* How programs reach combined-compress, combined-decompress, deflate-compress, deflate-decompress.
 *
 * Made of their manifests by `pytest tests/test_headers.py --update-docs`. */
#ifndef RACKWRIGHT_UNIT_COMMANDS_H
#define RACKWRIGHT_UNIT_COMMANDS_H

#define COMBINED_COMPRESS_CUSTOM 1 /* combined-compress: n of custom-n */
#define UNIT_SFENCE 0
#define UNIT_SRC 1 /* rs1: address of the input, rs2: its bytes */
#define UNIT_DEST_AND_START 2 /* rs1: address of the output, rs2: address of a flag of 8 bytes, or 0 */
#define UNIT_CHECK_COMPLETION 3 /* answers operations completed since reset, when all that were started have */
#define UNIT_MAX_OFFSET 4 /* rs1: bytes that matches reach back */
#define UNIT_HASH_TABLE_LOG2 5 /* rs1: log2 of the entries of the hash table */
#define UNIT_ALGORITHM 12 /* rs1: the format and what stands around the data */
#define UNIT_MORE_INPUT 13 /* rs1: 1: input follows after the start */
#define UNIT_LIMIT 16 /* rs1: capacity of the next output, rs2: address of its completion record, or 0 */
#define UNIT_STATUS 17 /* answers status of the operation completed last */
#define UNIT_OUTPUT_BYTES 18 /* answers bytes that it wrote */
#define UNIT_INPUT_OFFSET 19 /* answers bytes that it consumed, or where its input is wrong */
#define UNIT_VERSION 20 /* answers 1 */
#define UNIT_EXTEND 21 /* rs1: bytes more of the input, rs2: 1 where none follow */
#define UNIT_WRITTEN 22 /* answers bytes of the output that memory has */
#define UNIT_FAULT 127 /* answers where an access was refused, if the unit translates addresses */
#define UNIT_RECORD_ENDED 0 /* first of 8 bits of the record: 1 + status; 0 before */
#define UNIT_RECORD_OUTPUT_BYTES 8 /* first of 56 bits of the record: bytes written */
#define UNIT_RECORD_INPUT_OFFSET 64 /* first of 64 bits of the record: bytes consumed, or where the input is wrong */

#define COMBINED_DECOMPRESS_CUSTOM 0 /* combined-decompress: n of custom-n */
#define UNIT_ON_CHIP_HISTORY 4 /* rs1: bytes of history that are used */
#define UNIT_DICTIONARY_ADDRESS 7 /* rs1: address of the dictionary */
#define UNIT_DICTIONARY_LENGTH 8 /* rs1: its bytes; 0: none */
#define UNIT_DICTIONARY_KEPT 9 /* rs1: 1: it has not changed since it was given */

#define DEFLATE_COMPRESS_CUSTOM 1 /* deflate-compress: n of custom-n */
#define DEFLATE_COMPRESS_SFENCE 0
#define DEFLATE_COMPRESS_SRC 1 /* rs1: address of the input, rs2: its bytes */
#define DEFLATE_COMPRESS_DEST_AND_START 2 /* rs1: address of the output, rs2: address of a flag of 8 bytes, or 0 */
#define DEFLATE_COMPRESS_CHECK_COMPLETION 3 /* answers operations completed since reset, when all that were started have */
#define DEFLATE_COMPRESS_MAX_OFFSET 4 /* rs1: bytes that matches reach back */
#define DEFLATE_COMPRESS_HASH_TABLE_LOG2 5 /* rs1: log2 of the entries of the hash table */
#define DEFLATE_COMPRESS_FORMAT 6 /* rs1: what stands around the data: 0 nothing, 1 zlib, 2 gzip */
#define DEFLATE_COMPRESS_LIMIT 16 /* rs1: capacity of the next output, rs2: address of its completion record, or 0 */
#define DEFLATE_COMPRESS_STATUS 17 /* answers status of the operation completed last */
#define DEFLATE_COMPRESS_OUTPUT_BYTES 18 /* answers bytes that it wrote */
#define DEFLATE_COMPRESS_INPUT_OFFSET 19 /* answers bytes that it consumed, or where its input is wrong */
#define DEFLATE_COMPRESS_VERSION 20 /* answers 1 */
#define DEFLATE_COMPRESS_FAULT 127 /* answers where an access was refused, if the unit translates addresses */
#define DEFLATE_COMPRESS_RECORD_ENDED 0 /* first of 8 bits of the record: 1 + status; 0 before */
#define DEFLATE_COMPRESS_RECORD_OUTPUT_BYTES 8 /* first of 56 bits of the record: bytes written */
#define DEFLATE_COMPRESS_RECORD_INPUT_OFFSET 64 /* first of 64 bits of the record: bytes consumed, or where the input is wrong */

#define DEFLATE_DECOMPRESS_CUSTOM 0 /* deflate-decompress: n of custom-n */
#define DEFLATE_DECOMPRESS_SFENCE 0
#define DEFLATE_DECOMPRESS_SRC 1 /* rs1: address of the input, rs2: its bytes */
#define DEFLATE_DECOMPRESS_DEST_AND_START 2 /* rs1: address of the output, rs2: address of a flag of 8 bytes, or 0 */
#define DEFLATE_DECOMPRESS_CHECK_COMPLETION 3 /* answers operations completed since reset, when all that were started have */
#define DEFLATE_DECOMPRESS_ON_CHIP_HISTORY 4 /* rs1: bytes of history that are used */
#define DEFLATE_DECOMPRESS_FORMAT 5 /* rs1: what stands around the data: 0 nothing, 1 zlib, 2 gzip */
#define DEFLATE_DECOMPRESS_LIMIT 16 /* rs1: capacity of the next output, rs2: address of its completion record, or 0 */
#define DEFLATE_DECOMPRESS_STATUS 17 /* answers status of the operation completed last */
#define DEFLATE_DECOMPRESS_OUTPUT_BYTES 18 /* answers bytes that it wrote */
#define DEFLATE_DECOMPRESS_INPUT_OFFSET 19 /* answers bytes that it consumed, or where its input is wrong */
#define DEFLATE_DECOMPRESS_VERSION 20 /* answers 1 */
#define DEFLATE_DECOMPRESS_FAULT 127 /* answers where an access was refused, if the unit translates addresses */
#define DEFLATE_DECOMPRESS_RECORD_ENDED 0 /* first of 8 bits of the record: 1 + status; 0 before */
#define DEFLATE_DECOMPRESS_RECORD_OUTPUT_BYTES 8 /* first of 56 bits of the record: bytes written */
#define DEFLATE_DECOMPRESS_RECORD_INPUT_OFFSET 64 /* first of 64 bits of the record: bytes consumed, or where the input is wrong */

#endif
