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
#define RW_TILE_REGISTER_FORM 0x30 /* of a tile with `network`: bit 0: packets to be sent are descriptors; bit 1: received packets become descriptors; while a bit is 0, the queue holds the data; bit 2: such packets begin with the header of their datagram, in place of the register peer */
#define RW_TILE_REGISTER_BUFFERS 0x38 /* of a tile with `network`: address of the header of a queue of addresses, of buffers of 2048 bytes for received descriptors */
#define RW_TILE_REGISTER_SENT 0x40 /* of a tile with `network`: packets whose data has been read since reset, modulo 2^32; the buffer of a sent descriptor is free from then on */
#define RW_TILE_REGISTER_INTERRUPT_ENABLE 0x48 /* written: bits of 1 enable interrupts of an open tile; reads the enabled ones, which are no longer when they are pending or the tile has closed or stopped */
#define RW_TILE_REGISTER_INTERRUPT_ENABLE_ELEMENT_BIT 0 /* the bit: an interrupt when the outgoing queue has an element behind the index awaited_element */
#define RW_TILE_REGISTER_INTERRUPT_ENABLE_ROOM_BIT 1 /* the bit: an interrupt when the incoming queue has a free place behind the index awaited_room */
#define RW_TILE_REGISTER_INTERRUPT_PENDING 0x50 /* reads the pending interrupts, by the same bits; written: bits of 1 acknowledge them, after which they are neither pending nor enabled. The interrupt line is high while one is pending */
#define RW_TILE_REGISTER_AWAITED_ELEMENT 0x58 /* index, modulo 2^32: the interrupt is pending as soon as more elements of the outgoing queue are published, and when the tile closes or stops */
#define RW_TILE_REGISTER_AWAITED_ROOM 0x60 /* index, modulo 2^32: the same when more places of the incoming queue are released */
#define RW_TILE_REGISTER_SETTINGS 0xa0 /* the first of 12, 8 bytes apart: the settings of the unit, which are commands 4 to 15: what is written is its value; written while the tile is open, nothing happens */

#endif
