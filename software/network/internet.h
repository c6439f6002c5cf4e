/* ARP, IPv4, ICMP echo and UDP over the NIC: as much as small programs need. One thing at a time, no fragments. */
#ifndef RACKWRIGHT_INTERNET_H
#define RACKWRIGHT_INTERNET_H

#include <stdbool.h>
#include <stdint.h>

#include "nic.h"

enum { ETHERNET_BYTES = 14, IPV4_BYTES = 20, UDP_BYTES = 8, ICMP_BYTES = 8 };
enum { UDP_PAYLOAD = ETHERNET_BYTES + IPV4_BYTES + UDP_BYTES, ICMP_PAYLOAD = ETHERNET_BYTES + IPV4_BYTES + ICMP_BYTES };

/* Who sent something: addresses as numbers, the first byte highest. */
struct endpoint {
  uint64_t mac;
  uint32_t address;
  uint16_t port;
};

/* What a program does with what reaches it; null where it does nothing. The payload stays in place until the return. */
struct handlers {
  void (*datagram)(const struct endpoint *from, uint16_t port, const uint8_t *payload, unsigned length);
  void (*echo_reply)(const struct endpoint *from, uint16_t identifier, uint16_t sequence, unsigned length);
  void (*other)(const struct received *frame); /* frames that are neither ARP nor IPv4 */
};

/* Frames that were not used, by reason. */
struct unused {
  uint64_t foreign;  /* for others, or of a protocol that nobody handles */
  uint64_t damaged;  /* cut short, or with a wrong checksum */
};
extern struct unused unused;

/* Starts the NIC. Echo requests and ARP are answered from now on, whenever internet_poll is called. */
void internet_start(const struct handlers *handlers);

/* Handles one received frame; tells whether there was one. */
bool internet_poll(void);

/* The MAC address of a server, which is asked for by ARP; waits for the answer, and asks again every millisecond. */
uint64_t internet_resolve(uint32_t address);

/* Where the payload of a datagram goes; internet_send_datagram sends it. */
uint8_t *internet_datagram(void);
void internet_send_datagram(const struct endpoint *to, uint16_t from_port, unsigned length);

/* Asks for an echo with `length` bytes of payload. */
void internet_ping(const struct endpoint *to, uint16_t identifier, uint16_t sequence, unsigned length);

/* This server's own. */
uint32_t internet_address(void);

#endif
