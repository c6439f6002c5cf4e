/* store: a server whose memcached is answered by the units of its tiles, UDP port 11211. This program connects the tile
   `network` (0) with the tile `store` (1) by two queues, and stops; no hart touches a request after that.

   Options: items=N, the items that there is room for in the table, a power of two (default 4096); kib=N, the size of the
   store (default 1024). */
#include "arguments.h"
#include "bare.h"
#include "memcached.h"
#include "nic.h"
#include "text.h"
#include "rackwright/network_registers.h"
#include "rackwright/queue.h"
#include "rackwright/store.h"

enum { NETWORK, STORE, ELEMENTS = 1024, SET_REGION = 4, SET_LEAD = 5, LEAD = RW_DATAGRAM_HEADER + MEMCACHED_HEADER };

static uint64_t items = 4096, kib = 1024;

/* Memory for queues and the store, which nobody gives back. */
void *aligned_alloc(size_t alignment, size_t bytes) {
  static uintptr_t next;
  if (!next) next = (uintptr_t)free_memory;
  const uintptr_t found = (next + alignment - 1) & ~(alignment - 1);
  next = found + bytes;
  return (void *)found;
}

static void refuse(const char *option) {
  print_text(option);
  print_text(": not an option, or its value is out of range\n");
  exit(2);
}

static void read_option(const char *option) {
  static const struct number_option numbers[] = {{"items", &items, 8, 1 << 20}, {"kib", &kib, 16, 64 << 10}};
  const struct text whole = text_of(option);
  struct text value = whole, name = {whole.at, 0};
  while (name.length < whole.length && whole.at[name.length] != '=') ++name.length;
  if (name.length == whole.length) refuse(option);
  value.at += name.length + 1;
  value.length -= name.length + 1;
  if (!set_number(numbers, sizeof numbers / sizeof numbers[0], name, value)) refuse(option);
}

static void set(unsigned offset, uint64_t value) {
  rackwright_register_write(rw_tile_page(NETWORK), RW_TILE_UNIT_REGISTERS + offset, value);
}

int main(void) {
  static const uint64_t hash_key[2] = {UINT64_C(0x243f6a8885a308d3), UINT64_C(0x13198a2e03707344)};
  for (unsigned index = 0; index < argument_count(); ++index) read_option(argument(index));
  unsigned bits = 3;
  while (UINT64_C(1) << bits < items) ++bits;
  rw_store *const store = aligned_alloc(64, kib << 10);
  if (!rw_store_format(store, kib << 10, bits, hash_key)) {
    print_text("kib: the store has no room for its table\n");
    return 2;
  }
  rw_queue *const requests = rw_queue_create(ELEMENTS, 8), *const responses = rw_queue_create(ELEMENTS, 8);
  set(RW_NETWORK_REGISTER_MAC, nic_mac());
  set(RW_NETWORK_REGISTER_ADDRESS, boot_information.address);
  set(RW_NETWORK_REGISTER_MASK, 0xffff0000);
  set(RW_NETWORK_REGISTER_BINDINGS, UINT64_C(1) << 63 | MEMCACHED_PORT);
  rw_tile_address(NETWORK);
  rw_tile_set(STORE, SET_REGION, (uintptr_t)store);
  rw_tile_set(STORE, SET_LEAD, LEAD);
  rw_tile_open(STORE, requests, responses);
  rw_tile_open(NETWORK, responses, requests);
  for (;;) __asm__ volatile("wfi");
}
