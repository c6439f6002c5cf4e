/* A datagram of UDP to a station that sends all frames back, and what comes back of it, as a program. */
#ifndef TILES_DATAGRAM_H
#define TILES_DATAGRAM_H

#include <stddef.h>
#include <stdint.h>

enum { DATAGRAM_HEADERS = 14 + 20 + 8, DATAGRAM_MOST = 2048 };

/* The own address of Ethernet, and IPv4 addresses and ports with the high byte first. */
typedef struct {
    uint8_t mac[6], peer_mac[6], address[4], peer[4], port[2], peer_port[2];
} datagram_socket;

/* Puts Ethernet, IPv4 and UDP in front of the data at `frame + DATAGRAM_HEADERS`, with both checksums. */
void datagram_send(const datagram_socket *from, uint8_t *frame, size_t bytes);

/* What the station does: both ends change places. */
void datagram_mirror(uint8_t *frame);

/* Checks a frame as a host does, which has `room` bytes; gives how many bytes of data there are, or -1. */
long datagram_receive(const datagram_socket *at, const uint8_t *frame, size_t room);

#endif
