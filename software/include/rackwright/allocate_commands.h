/* How programs reach allocate.
 *
 * Made of their manifests by `pytest tests/test_headers.py --update-docs`. */
#ifndef RACKWRIGHT_ALLOCATE_COMMANDS_H
#define RACKWRIGHT_ALLOCATE_COMMANDS_H

#define ALLOCATE_CUSTOM 1 /* allocate: n of custom-n */
#define ALLOCATE_HEAP 0 /* rs1: where memory to allocate begins: a multiple of 16, rs2: its bytes: a multiple of 16, at least 32, less than 4 GiB; what was allocated before is forgotten, answers a status: ok, or unsupported if the memory can't be a heap */
#define ALLOCATE_ALLOCATE 1 /* rs1: bytes, answers the address of as many, a multiple of 16; or 0 */
#define ALLOCATE_FREE 2 /* rs1: what allocate answered, or 0 */
#define ALLOCATE_TRIM 3 /* answers 0, when all blocks that were kept have joined their free neighbours */
#define ALLOCATE_PROBLEM 4 /* answers the first call that could not be obeyed since the last answer: its kind in bits 7 to 0, 0 if there is none; the address in the others */
#define ALLOCATE_FAULT 127 /* answers where an access was refused, if the unit translates addresses */

#endif
