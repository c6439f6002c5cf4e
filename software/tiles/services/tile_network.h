/* The network of a figure: the unit on its tile, or a program, between two queues of packets. */
#ifndef TILES_TILE_NETWORK_H
#define TILES_TILE_NETWORK_H

#include "rackwright/network_registers.h"
#include "rackwright/queue.h"
#include "datagram.h"

/* Room for a packet and its headers, so that the packet is aligned to 8 bytes. */
enum { PACKET_OFFSET = DATAGRAM_HEADERS + 6, PACKET_ROOM = PACKET_OFFSET + DATAGRAM_MOST };

static inline uint64_t network_value(const uint8_t *bytes, unsigned count)
{
    uint64_t sum = 0;
    for (unsigned i = 0; i < count; i++) sum = sum << 8 | bytes[i];
    return sum;
}

static inline void network_set(unsigned tile, unsigned offset, uint64_t to)
{
    rackwright_register_write(rw_tile_page(tile), RW_TILE_UNIT_REGISTERS + offset, to);
}

/* Has the unit send to the socket's peer what comes, and give what it receives from there. */
static inline void network_open(unsigned tile, const datagram_socket *own, rw_queue *incoming, rw_queue *outgoing)
{
    network_set(tile, RW_NETWORK_REGISTER_MAC, network_value(own->mac, 6));
    network_set(tile, RW_NETWORK_REGISTER_ADDRESS, network_value(own->address, 4));
    network_set(tile, RW_NETWORK_REGISTER_MASK, 0xffffff00);
    network_set(tile, RW_NETWORK_REGISTER_BINDINGS, UINT64_C(1) << 63 | network_value(own->port, 2));
    rackwright_register_write(rw_tile_page(tile), RW_TILE_REGISTER_PEER,
                              network_value(own->peer, 4) << 32 | network_value(own->peer_port, 2) << 16 | network_value(own->port, 2));
    rw_tile_open(tile, incoming, outgoing);
}

/* The same for one packet by a program: to the station that sends it back, and from there. Gives its bytes, or -1. */
static inline long network_by_program(const datagram_socket *own, uint8_t *data, size_t bytes)
{
    uint8_t *frame = data - DATAGRAM_HEADERS;
    datagram_send(own, frame, bytes);
    datagram_mirror(frame);
    return datagram_receive(own, frame, bytes + DATAGRAM_HEADERS);
}

#endif
