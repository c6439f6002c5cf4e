/* store: a server whose memcached is answered by the units of its tiles, UDP port 11211. This program connects the tile
   `network` (0) with the tile `store` (1) by two queues; after that, it only advances the store's time each second.

   Options: items=N, the items that there is room for in the table, a power of two (default 4096); kib=N, the size of the
   store (default 1024); shards=N, tiles `store` with as many stores of their own (default 1), each on a port of its own from
   11211 on and at a stream of `network`. */
#include "arguments.h"
#include "bare.h"
#include "memcached.h"
#include "nic.h"
#include "text.h"
#include "rackwright/network_registers.h"
#include "rackwright/queue.h"
#include "rackwright/store.h"

enum { NETWORK, STORE, ELEMENTS = 1024, SET_REGION = 4, SET_LEAD = 5, LEAD = RW_DATAGRAM_HEADER + MEMCACHED_HEADER };

/* A pair of queues of `network`, whose registers follow those of the one before. */
enum { PAIR = 0x100, MOST_SHARDS = 4 };

static uint64_t items = 4096, kib = 1024, shards = 1;

static void read_option(const char *option) {
  static const struct number_option numbers[] = {
      {"items", &items, 8, 1 << 20}, {"kib", &kib, 16, 64 << 10}, {"shards", &shards, 1, MOST_SHARDS}};
  read_number_option(numbers, sizeof numbers / sizeof numbers[0], option);
}

static void set(unsigned offset, uint64_t value) {
  rackwright_register_write(rw_tile_page(NETWORK), RW_TILE_UNIT_REGISTERS + offset, value);
}

static void set_pair(unsigned number, unsigned offset, uint64_t value) {
  rackwright_register_write(rw_tile_page(NETWORK) + number * PAIR, offset, value);
}

/* A store of its own at a stream of `network`; NULL without room for its table. */
static rw_store *connect(unsigned shard, unsigned bits) {
  static const uint64_t hash_key[2] = {UINT64_C(0x243f6a8885a308d3), UINT64_C(0x13198a2e03707344)};
  rw_store *const store = aligned_alloc(64, kib << 10);
  if (!rw_store_format(store, kib << 10, bits, hash_key)) return NULL;
  rw_queue *const requests = rw_queue_create(ELEMENTS, 8), *const responses = rw_queue_create(ELEMENTS, 8);
  set(RW_NETWORK_REGISTER_BINDINGS + 8 * shard, UINT64_C(1) << 63 | (uint64_t)shard << 16 | (MEMCACHED_PORT + shard));
  rw_tile_set(STORE + shard, SET_REGION, (uintptr_t)store);
  rw_tile_set(STORE + shard, SET_LEAD, LEAD);
  rw_tile_open(STORE + shard, requests, responses);
  set_pair(shard, RW_TILE_REGISTER_FORM, 4);
  set_pair(shard, RW_TILE_REGISTER_INCOMING, (uintptr_t)responses);
  set_pair(shard, RW_TILE_REGISTER_OUTGOING, (uintptr_t)requests);
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
  set_pair(shard, RW_TILE_REGISTER_CONTROL, 1);
  return store;
}

int main(void) {
  enum { SECOND = 2000000000 };
  static rw_store *stores[MOST_SHARDS];
  for (unsigned index = 0; index < argument_count(); ++index) read_option(argument(index));
  unsigned bits = 3;
  while (UINT64_C(1) << bits < items) ++bits;
  set(RW_NETWORK_REGISTER_MAC, nic_mac());
  set(RW_NETWORK_REGISTER_ADDRESS, boot_information.address);
  set(RW_NETWORK_REGISTER_MASK, 0xffff0000);
  for (unsigned shard = 0; shard < shards; ++shard) {
    stores[shard] = connect(shard, bits);
    if (!stores[shard]) {
      print_text("kib: the store has no room for its table\n");
      return 2;
    }
  }
  for (uint64_t second = SECOND;; second += SECOND) {
    while (read_cycles() < second) nic_wait_until(second);
    for (unsigned shard = 0; shard < shards; ++shard) ++*(volatile uint32_t *)&stores[shard]->time;
  }
}
