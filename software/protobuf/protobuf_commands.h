/* How programs reach protobuf-deserialize, protobuf-serialize.
 *
 * Made of their manifests by `pytest tests/test_headers.py --update-docs`. */
#ifndef RACKWRIGHT_PROTOBUF_COMMANDS_H
#define RACKWRIGHT_PROTOBUF_COMMANDS_H

#define PROTOBUF_DESERIALIZE_CUSTOM 2 /* protobuf-deserialize: n of custom-n */
#define DESERIALIZE_SFENCE 0
#define DESERIALIZE_PARSE_INFO 1 /* rs1: descriptor table, rs2: object */
#define DESERIALIZE_DO_PARSE 2 /* rs1: input, rs2: its bytes */
#define DESERIALIZE_MEM_SETUP 3 /* rs1: start of the region of objects, rs2: start of that of arrays */
#define DESERIALIZE_CHECK_COMPLETION 4 /* answers requests completed since reset, when all that were started have */
#define DESERIALIZE_LIMITS 5 /* rs1: end of the region of objects, rs2: end of that of arrays */
#define DESERIALIZE_ARENA 6 /* rs1: the arena that objects belong to */
#define DESERIALIZE_COMPLETION 7 /* rs1: address of the next start's record, or 0 */
#define DESERIALIZE_LEFTOVERS 8 /* rs1: start of an array of records of what is left over, rs2: its end */
#define DESERIALIZE_STATUS 16 /* answers 0, or 1 + status of the first that failed since this or WAIT was asked */
#define DESERIALIZE_OBJECTS 17 /* answers where the next object lies */
#define DESERIALIZE_STRINGS 18 /* answers where the last string object lies */
#define DESERIALIZE_ARRAYS 19 /* answers where the next array lies */
#define DESERIALIZE_VERSION 20 /* answers 2 */
#define DESERIALIZE_WAIT 21 /* answers when all have completed: what STATUS answers */
#define DESERIALIZE_LONG_STRINGS 22 /* answers strings whose characters lie in the region of arrays */
#define DESERIALIZE_TEXTS 23 /* answers where the characters of the last of these lie */
#define DESERIALIZE_LEFTOVER_HEAD 24 /* answers where the next record of what is left over goes */
#define DESERIALIZE_FAULT 127 /* answers where an access was refused, if the unit translates addresses */
#define DESERIALIZE_RECORD_ENDED 0 /* first of 64 bits of the record: 1 + status; 0 before */
#define DESERIALIZE_RECORD_INPUT_OFFSET 64 /* first of 64 bits of the record: bytes read, or where the input is wrong */

#define PROTOBUF_SERIALIZE_CUSTOM 3 /* protobuf-serialize: n of custom-n */
#define SERIALIZE_SFENCE 0
#define SERIALIZE_HASBITS_INFO 1
#define SERIALIZE_DO_SERIALIZE 2 /* rs1: descriptor table, rs2: object */
#define SERIALIZE_MEM_SETUP 3 /* rs1: end of the output region, rs2: array of entries for outputs, or 0 */
#define SERIALIZE_CHECK_COMPLETION 4 /* answers requests completed since reset, when all that were started have */
#define SERIALIZE_LIMIT 5 /* rs1: start of the output region */
#define SERIALIZE_COMPLETION 7 /* rs1: address of the next start's record, or 0 */
#define SERIALIZE_STATUS 16 /* answers 0, or 1 + status of the first that failed since this or WAIT was asked */
#define SERIALIZE_HEAD 17 /* answers address of the last output */
#define SERIALIZE_VERSION 20 /* answers 2 */
#define SERIALIZE_WAIT 21 /* answers when all have completed: what STATUS answers if that is not 0, or HEAD */
#define SERIALIZE_FAULT 127 /* answers where an access was refused, if the unit translates addresses */
#define SERIALIZE_RECORD_ENDED 0 /* first of 64 bits of the record: 1 + status; 0 before */
#define SERIALIZE_RECORD_OUTPUT 64 /* first of 64 bits of the record: its address */
#define SERIALIZE_RECORD_OUTPUT_BYTES 128 /* first of 64 bits of the record: its length */

#endif
