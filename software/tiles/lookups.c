/* Gets that are sent as datagrams to a station that sends them back, received and answered by a store (Pengwing, figure 4.2).
 * Network and store are the units of their tiles, or programs on harts of their own.
 *
 * The words: `u` or `p` for network and store, as `up`; the most gets. Prints a line for each power of two up to that: gets,
 * those whose values are right, cycles and instructions of the caller from the first push to the last pop. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "../store/region.h"
#include "services/tile_network.h"

enum { NETWORK, STORE, SERVICES, ELEMENTS = 1024, ITEMS = 1024, BUCKET_BITS = 11, SET_REGION = 4, KEY = 16, VALUE = 64, WINDOW = 32, MOST_GETS = 1024 };
enum { REQUEST = sizeof(rw_store_request) + KEY, RESPONSE = sizeof(rw_store_response) + VALUE, REGION = (1 << 18) - 64 };

static const datagram_socket own = {{2, 0, 0, 0, 0, 1}, {2, 0, 0, 0, 0, 0}, {10, 0, 0, 1}, {10, 0, 0, 2}, {0x1f, 0x90}, {0x1f, 0x91}};
static const uint64_t hash_key[2] = {UINT64_C(0x0706050403020100), UINT64_C(0x0f0e0d0c0b0a0908)};
static rw_queue *entry, *incoming[SERVICES], *outgoing[SERVICES], *way_out;
static rw_store *store;
static volatile bool ends;
static uint32_t first_tag;

typedef struct {
    size_t right;
    uint64_t cycles, instructions;
} run;

static void key_of(uint64_t item, uint64_t key[KEY / 8]) { key[0] = item * UINT64_C(0x9e3779b97f4a7c15), key[1] = item; }

static void value_of(uint64_t item, uint64_t value[VALUE / 8])
{
    for (unsigned i = 0; i < VALUE / 8; i++) value[i] = (item + 1) * (i + UINT64_C(0x100000001));
}

static bool fill(void)
{
    store = aligned_alloc(64, REGION);
    if (!store || !rw_store_format(store, REGION, BUCKET_BITS, hash_key)) return false;
    for (uint64_t item = 0; item < ITEMS; item++) {
        uint64_t key[KEY / 8], value[VALUE / 8];
        key_of(item, key), value_of(item, value);
        if (region_store(store, RW_STORE_SET, 0, 0, key, KEY, value, VALUE, 0) != RW_STORE_OK) return false;
    }
    return true;
}

/* One packet, if there is one. */
static void serve(unsigned service, uint8_t *buffer)
{
    static uint64_t responses[RW_PACKET_MOST / 8];
    uint8_t *data = buffer + PACKET_OFFSET;
    long bytes = rw_packet_try_pop(incoming[service], data);
    if (bytes < 0) return;
    if (service == NETWORK) {
        bytes = network_by_program(&own, data, (size_t)bytes);
        if (bytes < 0) return;
    } else {
        bytes = (long)region_serve(store, data, (size_t)bytes, responses);
        data = (uint8_t *)responses;
    }
    while (!rw_packet_try_push(outgoing[service], data, (size_t)bytes)) {
    }
}

static void *serves(void *which)
{
    static _Thread_local uint8_t buffer[PACKET_ROOM] __attribute__((aligned(8)));
    while (!ends) serve((unsigned)(uintptr_t)which, buffer);
    return NULL;
}

static bool is_right(const uint64_t *response, uint32_t tag)
{
    const rw_store_response *header = (const rw_store_response *)response;
    uint64_t value[VALUE / 8];
    value_of(tag % ITEMS, value);
    return header->outcome == RW_STORE_OK && header->tag == tag && !memcmp(header + 1, value, VALUE);
}

/* So many gets, whose requests are made before and whose values are looked at afterwards. */
static run get(size_t gets)
{
    static uint64_t requests[MOST_GETS][REQUEST / 8], responses[MOST_GETS][RESPONSE / 8];
    static long sizes[MOST_GETS];
    memset(responses, 0, gets * sizeof *responses);
    for (size_t i = 0; i < gets; i++) {
        const uint32_t tag = first_tag + 7 * (uint32_t)i;
        uint64_t key[KEY / 8];
        key_of(tag % ITEMS, key);
        rw_store_put(requests[i], RW_STORE_GET, key, KEY, NULL, 0, 0, tag);
    }
    size_t pushed = 0, popped = 0;
    run done = {.instructions = rackwright_instructions(), .cycles = rackwright_cycles()};
    while (popped < gets) {
        if (pushed < gets && pushed - popped < WINDOW) pushed += rw_packet_try_push(entry, requests[pushed], REQUEST);
        sizes[popped] = rw_packet_try_pop(way_out, responses[popped]);
        popped += sizes[popped] >= 0;
    }
    done.cycles = rackwright_cycles() - done.cycles, done.instructions = rackwright_instructions() - done.instructions;
    for (size_t i = 0; i < gets; i++) done.right += sizes[i] == RESPONSE && is_right(responses[i], first_tag + 7 * (uint32_t)i);
    first_tag += 7 * (uint32_t)gets;
    return done;
}

int main(int count, char **words)
{
    if (count != 3 || strlen(words[1]) != SERVICES) return 2;
    const size_t most = strtoul(words[2], NULL, 10);
    if (!most || most > MOST_GETS || !fill()) return 2;
    entry = way_out = rw_queue_create(ELEMENTS, 8);
    for (unsigned service = 0; service < SERVICES; service++) incoming[service] = way_out, way_out = outgoing[service] = rw_queue_create(ELEMENTS, 8);
    pthread_t harts[SERVICES];
    for (unsigned service = 0; service < SERVICES; service++) {
        if (words[1][service] == 'p') {
            pthread_create(&harts[service], NULL, serves, (void *)(uintptr_t)service);
        } else if (service == NETWORK) {
            network_open(NETWORK, &own, incoming[NETWORK], outgoing[NETWORK]);
        } else {
            rw_tile_set(STORE, SET_REGION, (uintptr_t)store);
            rw_tile_open(STORE, incoming[STORE], outgoing[STORE]);
        }
    }

    /* The first one has the station's address asked for. */
    if (get(1).right != 1) return 1;
    for (size_t gets = 1; gets <= most; gets *= 2) {
        const run done = get(gets);
        printf("%zu %zu %lu %lu\n", gets, done.right, (unsigned long)done.cycles, (unsigned long)done.instructions);
    }
    ends = true;
    bool closed = true;
    for (unsigned service = 0; service < SERVICES; service++) {
        if (words[1][service] == 'p') pthread_join(harts[service], NULL);
        else closed &= rw_tile_close(service) == RW_TILE_CLOSED;
    }
    return !closed;
}
