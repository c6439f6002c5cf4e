/* Registers of the unit `network`: offsets in bytes, and the first bits of their fields.
 *
 * Made of their map by `pytest tests/test_headers.py --update-docs`. */
#ifndef RACKWRIGHT_NETWORK_REGISTERS_H
#define RACKWRIGHT_NETWORK_REGISTERS_H

#define RW_NETWORK_REGISTER_MAC 0x0
#define RW_NETWORK_REGISTER_MAC_ADDRESS_BIT 0 /* first of 48 bits: MAC address, the first byte in 47:40 */
#define RW_NETWORK_REGISTER_ADDRESS 0x8
#define RW_NETWORK_REGISTER_ADDRESS_VALUE_BIT 0 /* first of 32 bits: as all Internet addresses here with the first byte in 31:24; 0: nothing is answered or sent */
#define RW_NETWORK_REGISTER_MASK 0x10
#define RW_NETWORK_REGISTER_MASK_VALUE_BIT 0 /* first of 32 bits */
#define RW_NETWORK_REGISTER_GATEWAY 0x18
#define RW_NETWORK_REGISTER_GATEWAY_ADDRESS_BIT 0 /* first of 32 bits: 0: none */
#define RW_NETWORK_REGISTER_VLAN 0x20
#define RW_NETWORK_REGISTER_VLAN_NUMBER_BIT 0 /* first of 12 bits: of the own network */
#define RW_NETWORK_REGISTER_VLAN_PRESENT_BIT 63 /* the bit: frames have a tag */
#define RW_NETWORK_REGISTER_INTERVAL 0x28
#define RW_NETWORK_REGISTER_INTERVAL_CYCLES_BIT 0 /* first of 40 bits: between two questions for a station; 2·10⁹ after reset, a second (RFC 1122, 2.3.2.1) */
#define RW_NETWORK_REGISTER_FLUSH 0x30 /* a write empties the cache of ARP: software that does so in intervals keeps RFC 1122, 2.3.2.1 */
#define RW_NETWORK_REGISTER_UNREACHABLE 0x38
#define RW_NETWORK_REGISTER_UNREACHABLE_CYCLES_BIT 0 /* first of 40 bits: between two messages that a port or a protocol is unreachable; 0: none is sent; 20,000 after reset */
#define RW_NETWORK_REGISTER_ADDRESSES 0x40 /* the first of 4, 8 bytes apart: further own addresses */
#define RW_NETWORK_REGISTER_ADDRESSES_VALUE_BIT 0 /* first of 32 bits: 0: none */
#define RW_NETWORK_REGISTER_GROUPS 0x60 /* the first of 4, 8 bytes apart: groups whose datagrams are received */
#define RW_NETWORK_REGISTER_GROUPS_VALUE_BIT 0 /* first of 32 bits: a multicast address, 224/4; 0: none */
#define RW_NETWORK_REGISTER_BINDINGS 0x80 /* the first of 16, 8 bytes apart: which ports of UDP lead to which streams */
#define RW_NETWORK_REGISTER_BINDINGS_PORT_BIT 0 /* first of 16 bits */
#define RW_NETWORK_REGISTER_BINDINGS_STREAM_BIT 16 /* first of 2 bits: its number; as many bits as it needs */
#define RW_NETWORK_REGISTER_BINDINGS_PRESENT_BIT 63 /* the bit */
#define RW_NETWORK_REGISTER_RECEIVED_FRAMES 0x100
#define RW_NETWORK_REGISTER_DELIVERED 0x108
#define RW_NETWORK_REGISTER_ECHOED 0x110
#define RW_NETWORK_REGISTER_ARP 0x118
#define RW_NETWORK_REGISTER_FRAGMENTS 0x120
#define RW_NETWORK_REGISTER_DROPPED_SHORT 0x128
#define RW_NETWORK_REGISTER_DROPPED_MAC 0x130
#define RW_NETWORK_REGISTER_DROPPED_VLAN 0x138
#define RW_NETWORK_REGISTER_DROPPED_ETHERTYPE 0x140
#define RW_NETWORK_REGISTER_DROPPED_ARP 0x148
#define RW_NETWORK_REGISTER_DROPPED_HEADER 0x150
#define RW_NETWORK_REGISTER_DROPPED_LENGTH 0x158
#define RW_NETWORK_REGISTER_DROPPED_CHECKSUM 0x160
#define RW_NETWORK_REGISTER_DROPPED_FRAGMENT 0x168
#define RW_NETWORK_REGISTER_DROPPED_SOURCE 0x170
#define RW_NETWORK_REGISTER_DROPPED_DESTINATION 0x178
#define RW_NETWORK_REGISTER_DROPPED_RATE 0x180
#define RW_NETWORK_REGISTER_DROPPED_PROTOCOL 0x188
#define RW_NETWORK_REGISTER_DROPPED_ICMP 0x190
#define RW_NETWORK_REGISTER_DROPPED_ICMP_CHECKSUM 0x198
#define RW_NETWORK_REGISTER_DROPPED_UDP_LENGTH 0x1a0
#define RW_NETWORK_REGISTER_DROPPED_UDP_CHECKSUM 0x1a8
#define RW_NETWORK_REGISTER_DROPPED_PORT 0x1b0
#define RW_NETWORK_REGISTER_DROPPED_FULL 0x1b8
#define RW_NETWORK_REGISTER_SENT_FRAMES 0x1c0
#define RW_NETWORK_REGISTER_SENT_DATAGRAMS 0x1c8
#define RW_NETWORK_REGISTER_REFUSED_LENGTH 0x1d0
#define RW_NETWORK_REGISTER_REFUSED_ROUTE 0x1d8
#define RW_NETWORK_REGISTER_REFUSED_WAITING 0x1e0
#define RW_NETWORK_REGISTER_UNRESOLVED 0x1e8
#define RW_NETWORK_REGISTER_ARP_QUERIES 0x1f0
#define RW_NETWORK_REGISTER_ARP_REPLIES 0x1f8
#define RW_NETWORK_REGISTER_ARP_REPLIES_LOST 0x200
#define RW_NETWORK_REGISTER_UNREACHABLES 0x208
#define RW_NETWORK_REGISTER_REASSEMBLED 0x210
#define RW_NETWORK_REGISTER_ABANDONED 0x218
#define RW_NETWORK_REGISTER_SENT_FRAGMENTS 0x220
#define RW_NETWORK_REGISTER_REASSEMBLY 0x228
#define RW_NETWORK_REGISTER_REASSEMBLY_CYCLES_BIT 0 /* first of 40 bits: until a datagram of which fragments lack is given up; 120·10⁹ after reset, a minute (RFC 1122, 3.3.2) */
#define RW_NETWORK_REGISTER_LIMIT 0x230 /* the rate of packets of each sender */
#define RW_NETWORK_REGISTER_LIMIT_CYCLES_BIT 0 /* first of 32 bits: between two packets in the long run; 0: any rate, as after reset */
#define RW_NETWORK_REGISTER_LIMIT_ALLOWANCE_BIT 32 /* first of 32 bits: cycles by which a sender's packets may be early: (n - 1) · cycles, for n packets at once */

#endif
