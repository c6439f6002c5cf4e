/* How programs reach tile.
 *
 * Made of their manifests by `pytest tests/test_headers.py --update-docs`. */
#ifndef RACKWRIGHT_ENDPOINT_COMMANDS_H
#define RACKWRIGHT_ENDPOINT_COMMANDS_H

#define TILE_CUSTOM 2 /* tile: n of custom-n */
#define TILE_OPEN 0 /* rs1: address of the header of the incoming queue, rs2: of the outgoing one, answers number of an endpoint; 2^64 - 1: all are in use */
#define TILE_CLOSE 1 /* rs1: number of an endpoint: released when all that was published is answered, answers its state */
#define TILE_LOOK 2 /* rs1: number of an endpoint, answers 0 free, 1 open, 2 the incoming queue is wrong, 3 the outgoing one, 4 an access was refused */
#define TILE_REFUSED 3 /* rs1: number of an endpoint, answers where the engine was refused an access, as `fault`; or 0 */
#define TILE_RESUME 4 /* rs1: number of an endpoint that has stopped, answers its state before */
#define TILE_AWAIT 5 /* rs1: number of an endpoint, whose interrupt is acknowledged, rs2: 1: interrupts when an index of the endpoint changes, or when it stops, answers its state */
#define TILE_FAULT 127 /* answers where an access was refused, if the unit translates addresses */

#endif
