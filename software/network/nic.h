/* Driver of the network interface; hardware/src/main/scala/rackwright/nic/README.md is its contract. */
#ifndef RACKWRIGHT_NIC_H
#define RACKWRIGHT_NIC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "nic_registers.h"

enum { NIC_QUEUE = 16, NIC_LARGEST_FRAME = 9600 };

/* Where the registers are; a program that runs with translation may see them elsewhere. */
#ifndef NIC_REGISTERS
#define NIC_REGISTERS 0x10016000
#endif

/* A register of 64 bits, by its constant in nic_registers.h. */
static inline uint64_t nic_read(uintptr_t which) { return *(volatile uint64_t *)(NIC_REGISTERS + which); }

static inline void nic_write(uintptr_t which, uint64_t value) {
  *(volatile uint64_t *)(NIC_REGISTERS + which) = value;
}

/* A frame that was received; it lies in one of the driver's buffers. */
struct received {
  uint8_t *bytes;
  unsigned length;
  uint16_t sum; /* of the bytes from NIC_SUMMED on, as RFC 1071 defines it, not complemented */
};

/* Received frames are summed from here on: behind the Ethernet and IPv4 headers. */
enum { NIC_SUMMED = 34 };

/* Gives all receive buffers to the NIC and has it raise the hart's external interrupt for received frames. */
void nic_start(void);

/* The MAC address, its first byte in bits 47:40. */
uint64_t nic_mac(void);

/* Takes a frame, if one has been received whole. Its buffer goes back with nic_release before the next is taken. */
bool nic_receive(struct received *frame);
void nic_release(void);

/* Waits without executing instructions until a frame may have been received. */
void nic_wait(void);
/* The same, until the cycle `cycle` of the hart at the latest; it may end a tick of the timer, 200 cycles, later. */
void nic_wait_until(uint64_t cycle);

/* A buffer for the next frame to be sent; waits until one is free. */
uint8_t *nic_buffer(void);

/* Where the Internet checksum goes in a frame, and what is summed: from `first` on, with `initial` before. */
struct nic_checksum {
  uint16_t first;
  uint16_t place;
  uint16_t initial;
};

/* Sends what is in the buffer, with a checksum put in by the NIC unless that is null. */
void nic_send(unsigned length, const struct nic_checksum *checksum);

/* Waits until a frame can be sent at once: of those before, all but NIC_QUEUE - 1 have been read from memory. */
void nic_make_room(void);

/* Sends `length` bytes at any address, which must not change before they have been read. */
void nic_send_from(const void *bytes, unsigned length);

/* Waits until all frames have been read from memory. */
void nic_drain(void);

/* Lets `flits` of 8 bytes leave per `period` cycles of the NIC; 0 and 0: no limit. Before, the limit is the rate of
   the server's link; what leaves faster than that waits in the port behind the NIC, and is dropped when that is full. */
void nic_limit(uint16_t flits, uint16_t period);

#endif
