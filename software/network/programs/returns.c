/* returns [PORT [BY]]: a server whose tile `network` (0) returns datagrams to a UDP port (7) to their senders. One queue is both
   its outgoing and its incoming one: this program connects it, and stops; no hart touches a datagram after that. With BY = 1,
   there are two queues, and this program moves the datagrams from one to the other; with BY = 2, it sleeps while there is none. */
#include "arguments.h"
#include "bare.h"
#include "nic.h"
#include "rackwright/network_registers.h"
#include "rackwright/queue.h"

enum { NETWORK, ELEMENTS = 1024 };
enum { BY_UNIT, BY_PROGRAM, BY_SLEEPER };

static void set(unsigned offset, uint64_t value) {
  rackwright_register_write(rw_tile_page(NETWORK), RW_TILE_UNIT_REGISTERS + offset, value);
}

static void move(rw_queue *from, rw_queue *to) {
  static uint64_t data[RW_PACKET_MOST / 8];
  const long bytes = rw_packet_try_pop(from, data);
  if (bytes < 0) return;
  while (!rw_packet_try_push(to, data, (size_t)bytes)) {
  }
}

static void move_asleep(rw_queue *from, rw_queue *to) {
  static uint64_t data[RW_PACKET_MOST / 8];
  const long bytes = rw_tile_pop_packet(NETWORK, from, data);
  if (bytes >= 0) rw_tile_push_packet(NETWORK, to, data, (size_t)bytes);
}

int main(void) {
  const uint64_t by = number_argument(1, BY_UNIT);
  rw_queue *const received = rw_queue_create(ELEMENTS, 8);
  rw_queue *const returned = by != BY_UNIT ? rw_queue_create(ELEMENTS, 8) : received;
  set(RW_NETWORK_REGISTER_MAC, nic_mac());
  set(RW_NETWORK_REGISTER_ADDRESS, boot_information.address);
  set(RW_NETWORK_REGISTER_MASK, 0xffff0000);
  set(RW_NETWORK_REGISTER_BINDINGS, UINT64_C(1) << 63 | number_argument(0, 7));
  rw_tile_address(NETWORK);
  rw_tile_open(NETWORK, returned, received);
  while (by == BY_PROGRAM) move(received, returned);
  while (by == BY_SLEEPER) move_asleep(received, returned);
  for (;;) __asm__ volatile("wfi");
}
