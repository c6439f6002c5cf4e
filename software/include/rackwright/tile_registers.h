/* Registers of a tile with a unit: offsets in bytes, and the first bits of their fields.
 *
 * Made of their map by `pytest tests/test_headers.py --update-docs`. */
#ifndef RACKWRIGHT_TILE_REGISTERS_H
#define RACKWRIGHT_TILE_REGISTERS_H

#define RW_TILE_REGISTER_CONTROL 0x0 /* written 1: open; 0: close when all that was published is answered. Reads 0 closed, 1 open, 2 the incoming queue is wrong, 3 the outgoing one, 4 memory refused an access */
#define RW_TILE_REGISTER_INCOMING 0x8 /* address of the header of the incoming queue */
#define RW_TILE_REGISTER_OUTGOING 0x10 /* address of the header of the outgoing queue */
#define RW_TILE_REGISTER_TAKEN 0x18 /* index of the next element to be taken */
#define RW_TILE_REGISTER_ANSWERED 0x20 /* index of the next element to be given */
#define RW_TILE_REGISTER_PEER 0x28 /* of a tile with `network`: where packets go as datagrams: 63:32 address, 31:16 port there, 15:0 own port */
#define RW_TILE_REGISTER_SETTINGS 0xa0 /* the first of 12, 8 bytes apart: the settings of the unit, which are commands 4 to 15: what is written is its value; written while the tile is open, nothing happens */

#endif
