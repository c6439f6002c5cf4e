/* Packets that are encrypted, sent as datagrams to a station that sends them back, received and decrypted (Pengwing, figure 4.1). Each of
 * the three services between is by the unit of its tile (0 encrypts, 1 is the network, 2 decrypts), or by a program.
 *
 * The words: `u` or `p` for each service, as `upu`, or `-` where there is none; `-d-` for the network by its unit, with packets as
 * descriptors; bytes of a packet, a multiple of 16; packets; how many are under way at most. Prints
 * the packets that came back as they were, cycles and instructions of the caller from the first push to the last pop, and the median and
 * the 99th percentile of the cycles of a packet. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rackwright/rocc.h"
#include "services/aes.h"
#include "services/tile_network.h"

enum { ENCRYPT, NETWORK, DECRYPT, SERVICES, ELEMENTS = 1024, WARM_UP = 16, MOST_PACKETS = 4096, MOST_WINDOW = 64 };
enum { SET_MODE = 4, SET_DECRYPT, SET_KEY_BYTES, SET_KEY }; /* commands of `aes` */

static const uint8_t key[AES_BLOCK] = {0x2b, 0x7e, 0x15, 0x16, 0x28, 0xae, 0xd2, 0xa6, 0xab, 0xf7, 0x15, 0x88, 0x09, 0xcf, 0x4f, 0x3c};
static const datagram_socket own = {{2, 0, 0, 0, 0, 1}, {2, 0, 0, 0, 0, 0}, {10, 0, 0, 1}, {10, 0, 0, 2}, {0x1f, 0x90}, {0x1f, 0x91}};
static rw_queue *entry, *incoming[SERVICES], *outgoing[SERVICES], *way_out;
static aes_keys keys;
static volatile bool ends;
static uint64_t each[MOST_PACKETS], begun[MOST_PACKETS];

/* Of packets as descriptors: those to be sent, by the number of the packet, and the buffers of those received. */
static rw_queue *buffers;
static uint64_t leaving[MOST_WINDOW][DATAGRAM_MOST / 8], received[MOST_WINDOW][DATAGRAM_MOST / 8];

static void open_aes(unsigned tile, bool decrypts)
{
    uint64_t words[2];
    memcpy(words, key, sizeof words);
    rw_tile_set(tile, SET_MODE, 0);
    rw_tile_set(tile, SET_DECRYPT, decrypts);
    rw_tile_set(tile, SET_KEY_BYTES, AES_BLOCK);
    for (unsigned i = 0; i < 2; i++) rw_tile_set(tile, SET_KEY + i, words[i]);
    rw_tile_open(tile, incoming[tile], outgoing[tile]);
}

/* One packet, if there is one, is done in `buffer`. */
static void serve(unsigned service, uint8_t *buffer)
{
    uint8_t *data = buffer + PACKET_OFFSET;
    long bytes = rw_packet_try_pop(incoming[service], data);
    if (bytes < 0) return;
    if (service == NETWORK) {
        bytes = network_by_program(&own, data, (size_t)bytes);
        if (bytes < 0) return;
    } else {
        (service == ENCRYPT ? aes_encrypt : aes_decrypt)(&keys, data, (size_t)bytes);
    }
    while (!rw_packet_try_push(outgoing[service], data, (size_t)bytes)) {
    }
}

/* What a hart serves: bits of services. */
static void *serves(void *which)
{
    static _Thread_local uint8_t buffer[PACKET_ROOM] __attribute__((aligned(8)));
    while (!ends)
        for (unsigned service = 0; service < SERVICES; service++)
            if ((uintptr_t)which >> service & 1) serve(service, buffer);
    return NULL;
}

/* One packet that has come back, whose data is in `back` or, of a descriptor, in a buffer; NULL while there is none. */
static inline const uint64_t *popped_packet(bool described, uint64_t *back, size_t bytes)
{
    void *data = back;
    return (described ? rw_described_try_pop(way_out, &data) : rw_packet_try_pop(way_out, back)) == (long)bytes ? data : NULL;
}

/* `described` is a constant of each caller. What is sent is written into the queue, or into a buffer in memory. */
static inline __attribute__((always_inline)) size_t there_and_back(bool described, uint64_t *words, size_t bytes, size_t packets, size_t window)
{
    static uint64_t back[DATAGRAM_MOST / 8];
    size_t same = 0, pushed = 0, popped = 0;
    while (popped < packets) {
        if (pushed < packets && pushed - popped < window) {
            uint64_t *packet = words;
            words[0] = pushed;
            uint64_t now = rackwright_cycles();
            if (described) packet = memcpy(leaving[pushed % window], words, bytes);
            if (described ? rw_described_try_push(entry, packet, bytes) : rw_packet_try_push(entry, packet, bytes)) begun[pushed++] = now;
        }
        const uint64_t *data = popped_packet(described, back, bytes);
        if (!data) continue;
        each[popped] = rackwright_cycles() - begun[popped];
        same += data[0] == popped++ && !memcmp(data + 1, words + 1, bytes - 8);
        if (described) rw_queue_push(buffers, &(uint64_t){(uintptr_t)data});
    }
    return same;
}

static size_t by_streams(uint64_t *words, size_t bytes, size_t packets, size_t window)
{
    return there_and_back(false, words, bytes, packets, window);
}

static size_t by_descriptors(uint64_t *words, size_t bytes, size_t packets, size_t window)
{
    return there_and_back(true, words, bytes, packets, window);
}

/* Packets have buffers for a window of them in both directions. */
static void describe(void)
{
    buffers = rw_queue_create(MOST_WINDOW, 8);
    for (size_t i = 0; i < MOST_WINDOW; i++) rw_queue_push(buffers, &(uint64_t){(uintptr_t)received[i]});
    rw_tile_describe(NETWORK, true, buffers);
}

static int compare(const void *one, const void *other)
{
    uint64_t a = *(const uint64_t *)one, b = *(const uint64_t *)other;
    return a < b ? -1 : a > b;
}

int main(int count, char **words)
{
    static uint64_t data[DATAGRAM_MOST / 8];
    if (count != 5 || strlen(words[1]) != SERVICES) return 2;
    size_t bytes = strtoul(words[2], NULL, 10), packets = strtoul(words[3], NULL, 10), window = strtoul(words[4], NULL, 10);
    if (!bytes || bytes % 16 || bytes > 1472 || !packets || packets > MOST_PACKETS || !window || window > MOST_WINDOW) return 2;
    const bool describes = !strcmp(words[1], "-d-");
    size_t (*const go)(uint64_t *, size_t, size_t, size_t) = describes ? by_descriptors : by_streams;
    for (size_t i = 0; i < DATAGRAM_MOST / 8; i++) data[i] = UINT64_C(0x9e3779b97f4a7c15) * (i + 1);
    entry = way_out = rw_queue_create(ELEMENTS, 8);
    for (unsigned service = 0; service < SERVICES; service++)
        if (words[1][service] != '-') incoming[service] = way_out, way_out = outgoing[service] = rw_queue_create(ELEMENTS, 8);
    aes_prepare(&keys, key);
    if (describes) describe();

    /* Programs on harts of their own: both that encrypt on one, the network on the other. */
    pthread_t harts[2];
    uintptr_t by_program = 0;
    for (unsigned service = 0; service < SERVICES; service++) {
        if (words[1][service] == '-') continue;
        if (words[1][service] == 'p') by_program |= (uintptr_t)1 << service;
        else if (service == NETWORK) network_open(NETWORK, &own, incoming[NETWORK], outgoing[NETWORK]);
        else open_aes(service, service == DECRYPT);
    }
    const uintptr_t shares[2] = {by_program & (1 << ENCRYPT | 1 << DECRYPT), by_program & 1 << NETWORK};
    for (unsigned i = 0; i < 2; i++)
        if (shares[i]) pthread_create(&harts[i], NULL, serves, (void *)shares[i]);

    /* The first one has the station's address asked for; others wait for it. */
    if (go(data, bytes, 1, 1) != 1 || go(data, bytes, WARM_UP, window) != WARM_UP) return 1;
    uint64_t start = rackwright_cycles(), retired = rackwright_instructions();
    size_t same = go(data, bytes, packets, window);
    uint64_t all = rackwright_cycles() - start, executed = rackwright_instructions() - retired;
    ends = true;
    for (unsigned i = 0; i < 2; i++)
        if (shares[i]) pthread_join(harts[i], NULL);
    bool closed = true;
    for (unsigned tile = 0; tile < SERVICES; tile++)
        if (words[1][tile] == 'u' || words[1][tile] == 'd') closed &= rw_tile_close(tile) == RW_TILE_CLOSED;
    qsort(each, packets, sizeof *each, compare);
    printf("%zu %lu %lu %lu %lu\n", same, (unsigned long)all, (unsigned long)executed, (unsigned long)each[packets / 2],
           (unsigned long)each[packets - 1 - packets / 100]);
    return same != packets || !closed;
}
