#include "nic.h"

#include "bare.h"

enum { BUFFER_BYTES = 9664, LOADED_AT = 2 };

#define BUFFERS __attribute__((aligned(64), section(".noinit")))

/* Headers behind the 14 bytes of Ethernet's are aligned when a frame begins at byte 2. */
static uint8_t receive_buffers[NIC_QUEUE][BUFFER_BYTES] BUFFERS;
static uint8_t send_buffers[NIC_QUEUE][BUFFER_BYTES] BUFFERS;
static unsigned next_receive, next_send, in_flight;

static const uint64_t EXTERNAL = 1 << 11, TIMER = 1 << 7;

static void give(unsigned index) {
  uint64_t address = (uint64_t)(receive_buffers[index] + LOADED_AT);
  nic_write(NIC_RECEIVE_REQUEST, address | (uint64_t)NIC_LARGEST_FRAME << NIC_RECEIVE_REQUEST_CAPACITY_BIT);
}

void nic_start(void) {
  for (unsigned index = 0; index < NIC_QUEUE; ++index) give(index);
  nic_write(NIC_RECEIVE_CHECKSUM, 1ull << NIC_RECEIVE_CHECKSUM_ENABLE_BIT | NIC_SUMMED);
  nic_write(NIC_INTERRUPT_ENABLE, 1 << NIC_INTERRUPT_ENABLE_RECEIVED_BIT);
  /* Waits end when the line is raised; as interrupts stay off in mstatus, no trap is taken. */
  __asm__ volatile("csrs mie, %0" : : "r"(EXTERNAL));
}

uint64_t nic_mac(void) {
  /* As the register holds it: the first byte on the link in the highest of 48 bits. */
  return nic_read(NIC_MAC_ADDRESS);
}

bool nic_receive(struct received *frame) {
  uint64_t completion = nic_read(NIC_RECEIVE_COMPLETION);
  if (!(completion >> NIC_RECEIVE_COMPLETION_VALID_BIT)) return false;
  frame->bytes = receive_buffers[next_receive] + LOADED_AT;
  frame->length = completion & 0xffff;
  frame->sum = completion >> NIC_RECEIVE_COMPLETION_SUM_BIT & 0xffff;
  return true;
}

void nic_release(void) {
  give(next_receive);
  next_receive = (next_receive + 1) % NIC_QUEUE;
}

void nic_wait(void) { __asm__ volatile("wfi" : : : "memory"); }

void nic_wait_until(uint64_t cycle) {
  enum { CYCLES_PER_TICK = 200 };
  /* mtime counts from reset, as the hart's cycles do. */
  *(volatile uint64_t *)0x02004000 = (cycle + CYCLES_PER_TICK - 1) / CYCLES_PER_TICK;
  __asm__ volatile("csrs mie, %0" : : "r"(TIMER));
  nic_wait();
  __asm__ volatile("csrc mie, %0" : : "r"(TIMER));
}

static void reap(void) {
  while (in_flight && nic_read(NIC_SEND_COMPLETION) >> NIC_SEND_COMPLETION_VALID_BIT) --in_flight;
}

void nic_make_room(void) {
  while (in_flight == NIC_QUEUE) reap();
}

uint8_t *nic_buffer(void) {
  nic_make_room();
  return send_buffers[next_send] + LOADED_AT;
}

void nic_send(unsigned length, const struct nic_checksum *checksum) {
  if (checksum) {
    uint64_t fields = checksum->first | (uint64_t)checksum->place << NIC_SEND_CHECKSUM_OFFSET_BIT |
                      (uint64_t)checksum->initial << NIC_SEND_CHECKSUM_INITIAL_BIT;
    nic_write(NIC_SEND_CHECKSUM, fields | 1ull << NIC_SEND_CHECKSUM_ENABLE_BIT);
  }
  const uint8_t *bytes = send_buffers[next_send] + LOADED_AT;
  next_send = (next_send + 1) % NIC_QUEUE;
  nic_send_from(bytes, length);
}

void nic_send_from(const void *bytes, unsigned length) {
  nic_make_room();
  __asm__ volatile("fence w, o" : : : "memory");
  nic_write(NIC_SEND_REQUEST, (uint64_t)bytes | (uint64_t)length << NIC_SEND_REQUEST_LENGTH_BIT);
  ++in_flight;
}

void nic_drain(void) {
  while (in_flight) reap();
}

void nic_limit(uint16_t flits, uint16_t period) { nic_write(NIC_RATE, flits | (uint64_t)period << NIC_RATE_PERIOD_BIT); }
