/* Registers of the network interface: offsets in bytes, and the first bits of their fields.
 *
 * Made of their map by `pytest tests/test_headers.py --update-docs`. */
#ifndef RACKWRIGHT_NIC_REGISTERS_H
#define RACKWRIGHT_NIC_REGISTERS_H

#define NIC_SEND_REQUEST 0x0 /* asks for a frame to be sent */
#define NIC_SEND_REQUEST_ADDRESS_BIT 0 /* first of 48 bits: where the frame is */
#define NIC_SEND_REQUEST_LENGTH_BIT 48 /* first of 16 bits: of the frame, in bytes */
#define NIC_RECEIVE_REQUEST 0x8 /* gives memory for a frame */
#define NIC_RECEIVE_REQUEST_ADDRESS_BIT 0 /* first of 48 bits: where the frame goes */
#define NIC_RECEIVE_REQUEST_CAPACITY_BIT 48 /* first of 16 bits: bytes that may be written; 0 means 9600 */
#define NIC_SEND_COMPLETION 0x10 /* a read takes one */
#define NIC_SEND_COMPLETION_LENGTH_BIT 0 /* first of 16 bits: of the frame, in bytes */
#define NIC_SEND_COMPLETION_SUM_BIT 32 /* first of 16 bits: always 0 */
#define NIC_SEND_COMPLETION_STATUS_BIT 48 /* first of 3 bits: how it ended */
#define NIC_SEND_COMPLETION_VALID_BIT 63 /* the bit: there was one */
#define NIC_RECEIVE_COMPLETION 0x18 /* a read takes one */
#define NIC_RECEIVE_COMPLETION_LENGTH_BIT 0 /* first of 16 bits: of the frame, in bytes */
#define NIC_RECEIVE_COMPLETION_SUM_BIT 32 /* first of 16 bits: of what was received, if that is enabled */
#define NIC_RECEIVE_COMPLETION_STATUS_BIT 48 /* first of 3 bits: how it ended */
#define NIC_RECEIVE_COMPLETION_VALID_BIT 63 /* the bit: there was one */
#define NIC_COUNTS 0x20 /* how full the four queues are */
#define NIC_COUNTS_SEND_PLACES_BIT 0 /* first of 8 bits: free places for send requests */
#define NIC_COUNTS_RECEIVE_PLACES_BIT 8 /* first of 8 bits: free places for receive requests */
#define NIC_COUNTS_SENT_BIT 16 /* first of 8 bits: send completions that wait */
#define NIC_COUNTS_RECEIVED_BIT 24 /* first of 8 bits: receive completions that wait */
#define NIC_MAC_ADDRESS 0x28 /* kept for software; the unit does not look at addresses */
#define NIC_MAC_ADDRESS_ADDRESS_BIT 0 /* first of 48 bits: its first byte on the link in the highest bits */
#define NIC_INTERRUPT_ENABLE 0x30 /* which completions raise the interrupt */
#define NIC_INTERRUPT_ENABLE_SENT_BIT 0 /* the bit: send completions */
#define NIC_INTERRUPT_ENABLE_RECEIVED_BIT 1 /* the bit: receive completions */
#define NIC_RATE 0x38 /* flits or period 0: no limit */
#define NIC_RATE_FLITS_BIT 0 /* first of 16 bits: of 8 bytes, that leave in a period */
#define NIC_RATE_PERIOD_BIT 16 /* first of 16 bits: in cycles of the unit */
#define NIC_RATE_BURST_BIT 32 /* first of 16 bits: flits that leave at once after a pause */
#define NIC_SEND_CHECKSUM 0x40 /* of the next send request only */
#define NIC_SEND_CHECKSUM_START_BIT 0 /* first of 16 bits: first byte that is summed */
#define NIC_SEND_CHECKSUM_OFFSET_BIT 16 /* first of 16 bits: where the checksum goes */
#define NIC_SEND_CHECKSUM_INITIAL_BIT 32 /* first of 16 bits: what the sum begins with */
#define NIC_SEND_CHECKSUM_ENABLE_BIT 63 /* the bit: 1: with a checksum */
#define NIC_RECEIVE_CHECKSUM 0x48 /* of all received frames */
#define NIC_RECEIVE_CHECKSUM_START_BIT 0 /* first of 16 bits: first byte that is summed */
#define NIC_RECEIVE_CHECKSUM_ENABLE_BIT 63 /* the bit: 1: frames are summed */
#define NIC_MODERATION 0x50 /* when the interrupt comes for completions that wait */
#define NIC_MODERATION_PACKETS_BIT 0 /* first of 16 bits: completions that raise it at once */
#define NIC_MODERATION_TIME_BIT 16 /* first of 32 bits: cycles after which fewer do */
#define NIC_SENT_FRAMES 0x80
#define NIC_SENT_BYTES 0x88
#define NIC_RECEIVED_FRAMES 0x90
#define NIC_RECEIVED_BYTES 0x98
#define NIC_DROPPED_FULL 0xa0 /* frames dropped for lack of room */
#define NIC_DROPPED_LENGTH 0xa8 /* frames dropped for their length */
#define NIC_REFUSED_REQUESTS 0xb0 /* requests given to a full queue */

#endif
