/* Function numbers (funct7) of the protobuf units' commands.
 *
 * 0 to 4 are those of the public units of the same kind; the others are ours. The contract is on the
 * units' page, hardware/src/main/scala/rackwright/protobuf/README.md.
 */
#ifndef RACKWRIGHT_PROTOBUF_COMMANDS_H
#define RACKWRIGHT_PROTOBUF_COMMANDS_H

#define PROTOBUF_DESERIALIZE 2 /* custom-n of the deserializer */
#define PROTOBUF_SERIALIZE 3   /* custom-n of the serializer */

#define DESERIALIZE_PARSE_INFO 1 /* rs1 descriptor table, rs2 destination object */
#define DESERIALIZE_DO_PARSE 2   /* rs1 input, rs2 its bytes: starts */
#define DESERIALIZE_MEM_SETUP 3  /* rs1 start of the region of objects, rs2 of that of arrays */
#define DESERIALIZE_LIMITS 5     /* rs1 end of the region of objects, rs2 of that of arrays */
#define DESERIALIZE_ARENA 6      /* rs1 the arena that objects belong to */
#define DESERIALIZE_LEFTOVERS 8  /* rs1 start of an array of records, rs2 its end */
#define DESERIALIZE_OBJECTS 17   /* answers where the next object would lie */
#define DESERIALIZE_STRINGS 18   /* answers where the last string object lies */
#define DESERIALIZE_ARRAYS 19    /* answers where the next array would lie */
#define DESERIALIZE_LONG_STRINGS 22 /* answers how many strings have their contents in the region of
                                       arrays */
#define DESERIALIZE_TEXTS 23        /* answers where the contents of the last of these lie */

#define SERIALIZE_DO_SERIALIZE 2 /* rs1 descriptor table, rs2 object: starts */
#define SERIALIZE_MEM_SETUP 3    /* rs1 end of the output region, rs2 array for addresses of
                                    outputs, or 0 */
#define SERIALIZE_LIMIT 5        /* rs1 start of the output region */

#define PROTOBUF_CHECK_COMPLETION 4 /* waits for all requests; answers how many since reset */
#define PROTOBUF_COMPLETION 7       /* rs1 record of the next request, or 0 */
#define PROTOBUF_STATUS 16 /* answers 0, or 1 + status of the first that failed since this or WAIT was asked */
#define PROTOBUF_WAIT 21 /* waits for all requests; answers 1 + status of the first that failed, else
                            0 (deserializer) or the address of the last output (serializer) */

#endif
