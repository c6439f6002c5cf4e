/* How programs reach gather.
 *
 * Made of their manifests by `pytest tests/test_headers.py --update-docs`. */
#ifndef RACKWRIGHT_GATHER_COMMANDS_H
#define RACKWRIGHT_GATHER_COMMANDS_H

#define GATHER_CUSTOM 1 /* gather: n of custom-n */
#define GATHER_TABLE 0 /* rs1: where element 0 of the table is, a multiple of the bytes of an element, rs2: bytes of an element (1 to 32, a power of two) in bits 7 to 0, of an index (4 or 8) in bits 15 to 8 */
#define GATHER_GATHER 1 /* rs1: where the indices are, rs2: how many; their elements are answered by next */
#define GATHER_PREFETCH 2 /* rs1: where the indices are, rs2: how many; their elements are brought into the cache that harts share */
#define GATHER_NEXT 3 /* answers the next 8 bytes of the elements, or the next element if it has fewer */
#define GATHER_STOP 4 /* answers 0, when all that was asked for is forgotten */
#define GATHER_PROBLEM 5 /* answers why answers since the last question may be wrong: 0 if they are not */
#define GATHER_FAULT 127 /* answers where an access was refused, if the unit translates addresses */

#endif
