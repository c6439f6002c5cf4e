/* Queues in memory between programs and the units on tiles, for one producer and one consumer each; C and C++.
 *
 * A queue is a header, the index of each side on a line of its own, and elements of 8 to 64 bytes. Indices count elements and
 * are never reset, so that the element of an index is at index modulo length. What is put is seen when it is published, and a
 * place is free again when it is released; push and pop do both at once. hardware/src/main/scala/rackwright/queue/README.md
 * has the layout, which units know. */
#ifndef RACKWRIGHT_QUEUE_H
#define RACKWRIGHT_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "rackwright/registers.h"
#include "rackwright/tile_registers.h"

#ifdef __cplusplus
extern "C" {
#endif

#define RW_QUEUE_MAGIC 0x3145554555515752 /* "RWQUEUE1" */
#define RW_LINE_BYTES 64
#define RW_QUEUE_LONGEST (1u << 20)

typedef struct {
    /* Line 0: what the queue is. */
    uint64_t magic;
    uint64_t base;
    uint32_t element_bytes, length;
    uint64_t header_rest[5];
    /* Line 1, written by the producer: elements published, and whether none follow. */
    uint64_t written, closed;
    uint64_t written_rest[6];
    /* Line 2, written by the consumer: places released. */
    uint64_t read;
    uint64_t read_rest[7];
    /* Line 3, of a producer in software: elements put, and the consumer's index as it was last seen. */
    uint64_t put, read_seen;
    uint64_t put_rest[6];
    /* Line 4, of a consumer in software. */
    uint64_t taken, written_seen;
    uint64_t taken_rest[6];
} rw_queue;

/* An element that a unit takes: what to read, where to write at most how much, and what it is known by. In a chain of units, the next one
 * reads this one's output, and writes as much at most to `spare`; if that is 0, it writes where this one has read. A descriptor with a
 * `status` of its own is passed on as it is. */
typedef struct {
    uint64_t source, source_bytes, destination, capacity, tag;
    uint64_t spare;
    uint64_t status, reserved; /* 0 */
} rw_descriptor;

/* An element for a unit without the commands of streams: one of its commands, which gives an ending for which the unit has answered, with
 * that answer in `output_bytes`; if it gives none, the ending says that the unit has taken the command. */
typedef struct {
    uint64_t first, second; /* rs1, rs2 */
    uint64_t command;       /* its funct; RW_COMMAND_ANSWERS is added if it has an answer */
    uint64_t unused, tag;
    uint64_t rest[3]; /* 0 */
} rw_command;

#define RW_COMMAND_ANSWERS UINT64_C(128)

/* An element that a unit gives: the descriptor's tag, a status of rackwright/status.h, bytes written and consumed. */
typedef struct {
    uint64_t tag, status, output_bytes, input_offset;
} rw_ending;

typedef uint64_t __attribute__((may_alias)) rw_word;

/* Loads come before their stores, so that none waits for one. */
static inline void rw_queue_move_four(rw_word *to, const rw_word *from)
{
    uint64_t first = from[0], second = from[1], third = from[2], fourth = from[3];
    to[0] = first, to[1] = second, to[2] = third, to[3] = fourth;
}

/* Moves an element, which is aligned to 8 bytes. Those of tiles are moved without a loop. */
static inline void rw_queue_move(void *to, const void *from, uint32_t bytes)
{
    rw_word *target = (rw_word *)to;
    const rw_word *source = (const rw_word *)from;
    /* The compiler knows the size of the object, and not that `bytes` agrees with it. */
    __asm__("" : "+r"(target), "+r"(source));
    if (bytes == 32 || bytes == 64) {
        rw_queue_move_four(target, source);
        if (bytes == 64) rw_queue_move_four(target + 4, source + 4);
        return;
    }
    for (uint32_t word = 0; word < bytes / 8; word++) target[word] = source[word];
}

/* A queue of `length` elements (a power of two) of `element_bytes` (a multiple of 8, up to 64), empty; NULL without memory or
 * for sizes that there are not. */
static inline rw_queue *rw_queue_create(uint32_t length, uint32_t element_bytes)
{
    bool sizes = length && length <= RW_QUEUE_LONGEST && !(length & (length - 1)) && element_bytes &&
                 element_bytes <= RW_LINE_BYTES && element_bytes % 8 == 0;
    if (!sizes) return NULL;
    size_t bytes = ((size_t)length * element_bytes + RW_LINE_BYTES - 1) & ~(size_t)(RW_LINE_BYTES - 1);
    rw_queue *queue = (rw_queue *)aligned_alloc(RW_LINE_BYTES, sizeof *queue + bytes);
    if (!queue) return NULL;
    memset(queue, 0, sizeof *queue);
    queue->base = (uint64_t)(uintptr_t)(queue + 1);
    queue->element_bytes = element_bytes;
    queue->length = length;
    queue->magic = RW_QUEUE_MAGIC;
    return queue;
}

static inline void rw_queue_destroy(rw_queue *queue) { free(queue); }

static inline unsigned char *rw_queue_slot(const rw_queue *queue, uint64_t index)
{
    return (unsigned char *)(uintptr_t)queue->base + (index & (queue->length - 1)) * queue->element_bytes;
}

/* Puts an element without publishing it; false while there is no place. */
static inline bool rw_queue_put(rw_queue *queue, const void *element)
{
    if (queue->put - queue->read_seen == queue->length) {
        queue->read_seen = __atomic_load_n(&queue->read, __ATOMIC_ACQUIRE);
        if (queue->put - queue->read_seen == queue->length) return false;
    }
    rw_queue_move(rw_queue_slot(queue, queue->put++), element, queue->element_bytes);
    return true;
}

/* Has the consumer see all that was put. */
static inline void rw_queue_publish(rw_queue *queue)
{
    __atomic_store_n(&queue->written, queue->put, __ATOMIC_RELEASE);
}

/* Takes an element without releasing its place; false while there is none. */
static inline bool rw_queue_take(rw_queue *queue, void *element)
{
    if (queue->taken == queue->written_seen) {
        queue->written_seen = __atomic_load_n(&queue->written, __ATOMIC_ACQUIRE);
        if (queue->taken == queue->written_seen) return false;
    }
    rw_queue_move(element, rw_queue_slot(queue, queue->taken++), queue->element_bytes);
    return true;
}

/* Gives the producer the places of all that was taken. */
static inline void rw_queue_release(rw_queue *queue)
{
    __atomic_store_n(&queue->read, queue->taken, __ATOMIC_RELEASE);
}

/* Puts and publishes up to `count` elements, as many as there are places for; gives how many. */
static inline size_t rw_queue_try_push_many(rw_queue *queue, const void *elements, size_t count)
{
    size_t done = 0;
    const unsigned char *next = (const unsigned char *)elements;
    while (done < count && rw_queue_put(queue, next + done * queue->element_bytes)) done++;
    if (done) rw_queue_publish(queue);
    return done;
}

/* Takes and releases up to `count` elements, as many as there are; gives how many. */
static inline size_t rw_queue_try_pop_many(rw_queue *queue, void *elements, size_t count)
{
    size_t done = 0;
    unsigned char *next = (unsigned char *)elements;
    while (done < count && rw_queue_take(queue, next + done * queue->element_bytes)) done++;
    if (done) rw_queue_release(queue);
    return done;
}

static inline bool rw_queue_try_push(rw_queue *queue, const void *element)
{
    return rw_queue_try_push_many(queue, element, 1) == 1;
}

static inline bool rw_queue_try_pop(rw_queue *queue, void *element)
{
    return rw_queue_try_pop_many(queue, element, 1) == 1;
}

/* Waits for a place. */
static inline void rw_queue_push(rw_queue *queue, const void *element)
{
    while (!rw_queue_put(queue, element)) {
    }
    rw_queue_publish(queue);
}

/* Says that no element follows. */
static inline void rw_queue_close(rw_queue *queue) { __atomic_store_n(&queue->closed, 1, __ATOMIC_RELEASE); }

/* Waits for an element; false when none follows. */
static inline bool rw_queue_pop(rw_queue *queue, void *element)
{
    while (!rw_queue_take(queue, element)) {
        /* What was published before the queue was closed is still to be taken. */
        if (__atomic_load_n(&queue->closed, __ATOMIC_ACQUIRE)) return rw_queue_try_pop(queue, element);
    }
    rw_queue_release(queue);
    return true;
}

/* Packets in a queue with elements of 8 bytes: the number of bytes, then the bytes in whole elements, with 0 behind the last one. */
#define RW_PACKET_MOST 2048

/* Whether so many elements can be put; looks at the consumer's index only if the one that was seen last says no. */
static inline bool rw_queue_has_places(rw_queue *queue, size_t elements)
{
    if (queue->length - (queue->put - queue->read_seen) >= elements) return true;
    queue->read_seen = __atomic_load_n(&queue->read, __ATOMIC_ACQUIRE);
    return queue->length - (queue->put - queue->read_seen) >= elements;
}

static inline size_t rw_packet_elements(size_t bytes) { return 1 + (bytes + 7) / 8; }

/* Puts and publishes a packet of 1 to RW_PACKET_MOST bytes, which are aligned to 8; false without places for all of it. */
static inline bool rw_packet_try_push(rw_queue *queue, const void *data, size_t bytes)
{
    const size_t elements = rw_packet_elements(bytes);
    if (!rw_queue_has_places(queue, elements)) return false;
    const rw_word *words = (const rw_word *)data;
    rw_word *places = (rw_word *)(uintptr_t)queue->base;
    const uint64_t mask = queue->length - 1;
    uint64_t at = queue->put;
    places[at++ & mask] = bytes;
    for (size_t word = 0; word < bytes / 8; word++) places[at++ & mask] = words[word];
    if (bytes % 8) places[at++ & mask] = words[bytes / 8] & ((UINT64_C(1) << 8 * (bytes % 8)) - 1);
    queue->put = at;
    rw_queue_publish(queue);
    return true;
}

/* Takes and releases a packet whose data has room in whole elements; gives its bytes, or -1 while not all of one is there. */
static inline long rw_packet_try_pop(rw_queue *queue, void *data)
{
    uint64_t there = queue->written_seen - queue->taken;
    rw_word *words = (rw_word *)data;
    const rw_word *places = (const rw_word *)(uintptr_t)queue->base;
    const uint64_t mask = queue->length - 1;
    uint64_t at = queue->taken;
    if (!there || there < rw_packet_elements(places[at & mask])) {
        queue->written_seen = __atomic_load_n(&queue->written, __ATOMIC_ACQUIRE);
        there = queue->written_seen - at;
        if (!there || there < rw_packet_elements(places[at & mask])) return -1;
    }
    const size_t bytes = places[at++ & mask];
    for (size_t word = 0; word < (bytes + 7) / 8; word++) words[word] = places[at++ & mask];
    queue->taken = at;
    rw_queue_release(queue);
    return (long)bytes;
}

/* Tiles with a unit are numbered from 0 on, in the order of the file that describes them. */
#define RW_TILE_REGISTERS (UINT64_C(1) << 40)
#define RW_TILE_PAGE UINT64_C(0x1000)

/* What a tile does; from RW_TILE_INCOMING on, why it has stopped: a queue that is none of its kind or whose indices make no
 * sense, or an access that memory refused. */
typedef enum {
    RW_TILE_CLOSED = 0,
    RW_TILE_OPEN = 1,
    RW_TILE_INCOMING = 2,
    RW_TILE_OUTGOING = 3,
    RW_TILE_REFUSED = 4
} rw_tile_state;

static inline uint64_t rw_tile_page(unsigned tile) { return RW_TILE_REGISTERS + tile * RW_TILE_PAGE; }

static inline rw_tile_state rw_tile_look(unsigned tile)
{
    return (rw_tile_state)rackwright_register_read(rw_tile_page(tile), RW_TILE_REGISTER_CONTROL);
}

/* Has a tile take descriptors from one queue and give endings to the other, or descriptors for the next tile of a chain if its elements
 * are so large; each is a rw_queue or a rw_shared_queue. */
static inline void rw_tile_open(unsigned tile, const void *incoming, const void *outgoing)
{
    rackwright_register_write(rw_tile_page(tile), RW_TILE_REGISTER_INCOMING, (uint64_t)(uintptr_t)incoming);
    rackwright_register_write(rw_tile_page(tile), RW_TILE_REGISTER_OUTGOING, (uint64_t)(uintptr_t)outgoing);
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    rackwright_register_write(rw_tile_page(tile), RW_TILE_REGISTER_CONTROL, 1);
}

/* Where a program in user mode waits for the interrupt line of a tile: the load ends when the line is high, or has risen since the last
 * one; meanwhile its hart sleeps. */
#define RW_TILE_INTERRUPTS (RW_TILE_REGISTERS + UINT64_C(0x100000))

/* Looks at a queue before a wait for it has the hart sleep, 1 at least. */
#ifndef RW_TILE_LOOKS
#define RW_TILE_LOOKS 64
#endif

/* What a hart sleeps for: an element of the tile's outgoing queue, room in its incoming one. */
#define RW_TILE_ELEMENT (UINT64_C(1) << RW_TILE_REGISTER_INTERRUPT_ENABLE_ELEMENT_BIT)
#define RW_TILE_ROOM (UINT64_C(1) << RW_TILE_REGISTER_INTERRUPT_ENABLE_ROOM_BIT)

/* Has the hart sleep until the interrupt line of a tile is high, or for some shorter time. On bare metal, only interrupts that `mie`
 * enables end this, to which that of tiles is added meanwhile; they are off in `mstatus`, so that none traps. */
static inline void rw_tile_sleep(unsigned tile)
{
#if __STDC_HOSTED__
    (void)rackwright_register_read(RW_TILE_INTERRUPTS, 8 * tile);
#else
    uint64_t external = 1 << 11, enabled;
    (void)tile;
    __asm__ volatile("csrrs %0, mie, %1\n wfi\n csrw mie, %0" : "=&r"(enabled) : "r"(external) : "memory");
#endif
}

/* Sleeps until a tile has moved its index of one of its queues past `seen`, which the caller has read: RW_TILE_ELEMENT or
 * RW_TILE_ROOM. The tile compares the index when it is told, so that no move is missed. False if the tile is closed or has stopped
 * before; true also if it does so meanwhile. */
static inline bool rw_tile_await(unsigned tile, uint64_t what, uint64_t seen)
{
    const uint64_t page = rw_tile_page(tile);
    const uint64_t index = what == RW_TILE_ROOM ? RW_TILE_REGISTER_AWAITED_ROOM : RW_TILE_REGISTER_AWAITED_ELEMENT;
    rackwright_register_write(page, index, seen);
    rackwright_register_write(page, RW_TILE_REGISTER_INTERRUPT_ENABLE, what);
    const uint64_t enabled = rackwright_register_read(page, RW_TILE_REGISTER_INTERRUPT_ENABLE);
    while (!(rackwright_register_read(page, RW_TILE_REGISTER_INTERRUPT_PENDING) & what)) {
        if (!(enabled & what)) return false;
        rw_tile_sleep(tile);
    }
    rackwright_register_write(page, RW_TILE_REGISTER_INTERRUPT_PENDING, what);
    return true;
}

/* Waits for an element of a tile's outgoing queue; the hart sleeps after RW_TILE_LOOKS looks. False if there is none and the tile is
 * closed or has stopped. */
static inline bool rw_tile_pop(unsigned tile, rw_queue *outgoing, void *element)
{
    do {
        for (unsigned look = 0; look < RW_TILE_LOOKS; look++)
            if (rw_queue_try_pop(outgoing, element)) return true;
    } while (rw_tile_await(tile, RW_TILE_ELEMENT, outgoing->written_seen));
    return rw_queue_try_pop(outgoing, element);
}

/* Waits for a place in a tile's incoming queue, likewise. */
static inline bool rw_tile_push(unsigned tile, rw_queue *incoming, const void *element)
{
    do {
        for (unsigned look = 0; look < RW_TILE_LOOKS; look++)
            if (rw_queue_try_push(incoming, element)) return true;
    } while (rw_tile_await(tile, RW_TILE_ROOM, incoming->read_seen));
    return rw_queue_try_push(incoming, element);
}

/* Waits for a packet of a tile's outgoing queue, likewise; gives its bytes, or -1. */
static inline long rw_tile_pop_packet(unsigned tile, rw_queue *outgoing, void *data)
{
    long bytes;
    do {
        for (unsigned look = 0; look < RW_TILE_LOOKS; look++)
            if ((bytes = rw_packet_try_pop(outgoing, data)) >= 0) return bytes;
    } while (rw_tile_await(tile, RW_TILE_ELEMENT, outgoing->written_seen));
    return rw_packet_try_pop(outgoing, data);
}

/* Waits for the places of a packet in a tile's incoming queue, likewise. */
static inline bool rw_tile_push_packet(unsigned tile, rw_queue *incoming, const void *data, size_t bytes)
{
    do {
        for (unsigned look = 0; look < RW_TILE_LOOKS; look++)
            if (rw_packet_try_push(incoming, data, bytes)) return true;
    } while (rw_tile_await(tile, RW_TILE_ROOM, incoming->read_seen));
    return rw_packet_try_push(incoming, data, bytes);
}

/* Pushes a command, waits for its ending, and gives its answer; *status is set to how it has ended. For a tile that nobody else uses. */
static inline uint64_t rw_tile_command(rw_queue *asked, rw_queue *ended, const rw_command *command, uint64_t *status)
{
    rw_ending ending = {0, 0, 0, 0};
    rw_queue_push(asked, command);
    (void)rw_queue_pop(ended, &ending);
    *status = ending.status;
    return ending.output_bytes;
}

/* Gives the unit of a closed tile a setting, which is one of its commands 4 to 15. */
static inline void rw_tile_set(unsigned tile, unsigned funct, uint64_t value)
{
    rackwright_register_write(rw_tile_page(tile), RW_TILE_REGISTER_SETTINGS + 8 * (funct - 4), value);
}

/* Where the registers of a unit that has its own are in the page of a tile that takes packets. */
#define RW_TILE_UNIT_REGISTERS 0x800

/* Sets the form of the packets of a closed tile with `network`: `sends_descriptors` for those that it sends; received packets
 * become descriptors if `buffers` is not NULL, a queue of the addresses of buffers of RW_PACKET_MOST bytes. */
static inline void rw_tile_describe(unsigned tile, bool sends_descriptors, rw_queue *buffers)
{
    rackwright_register_write(rw_tile_page(tile), RW_TILE_REGISTER_BUFFERS, (uint64_t)(uintptr_t)buffers);
    rackwright_register_write(rw_tile_page(tile), RW_TILE_REGISTER_FORM, (buffers ? 2u : 0u) | (sends_descriptors ? 1u : 0u));
}

/* Bytes of the header of a datagram: the peer's address (4 bytes) and port (2), the own port (2), 4 bytes of 0, the number of bytes
 * of data (2), which is ignored in packets to be sent, 0; the highest byte of each first. */
#define RW_DATAGRAM_HEADER 16

/* Has packets of a closed tile with `network` begin with this header, in both directions: where they go, and where they come from. */
static inline void rw_tile_address(unsigned tile)
{
    rackwright_register_write(rw_tile_page(tile), RW_TILE_REGISTER_FORM, 4);
}

/* Descriptors of packets in a queue with elements of 8 bytes: the number of bytes, then their address, which has any alignment.
 * Puts and publishes one; false without places for it. The buffer is free when the tile has counted the packet in the register
 * `sent`. */
static inline bool rw_described_try_push(rw_queue *queue, const void *data, size_t bytes)
{
    if (!rw_queue_has_places(queue, 2)) return false;
    rw_word *places = (rw_word *)(uintptr_t)queue->base;
    const uint64_t mask = queue->length - 1;
    places[queue->put & mask] = bytes;
    places[(queue->put + 1) & mask] = (uint64_t)(uintptr_t)data;
    queue->put += 2;
    rw_queue_publish(queue);
    return true;
}

/* Takes and releases a descriptor; gives the bytes of its packet, whose buffer is now the caller's, or -1 while there is none. A
 * packet of 0 bytes was one that could not be written, whose buffer comes back too, or, with `*data` NULL, an empty datagram. */
static inline long rw_described_try_pop(rw_queue *queue, void **data)
{
    uint64_t there = queue->written_seen - queue->taken;
    if (there < 2) {
        queue->written_seen = __atomic_load_n(&queue->written, __ATOMIC_ACQUIRE);
        there = queue->written_seen - queue->taken;
        if (there < 2) return -1;
    }
    const rw_word *places = (const rw_word *)(uintptr_t)queue->base;
    const uint64_t mask = queue->length - 1;
    const long bytes = (long)places[queue->taken & mask];
    *data = (void *)(uintptr_t)places[(queue->taken + 1) & mask];
    queue->taken += 2;
    rw_queue_release(queue);
    return bytes;
}

/* Has a tile stop when it has answered all that was published, and waits for that; tells how it stopped. */
static inline rw_tile_state rw_tile_close(unsigned tile)
{
    rw_tile_state state;
    rackwright_register_write(rw_tile_page(tile), RW_TILE_REGISTER_CONTROL, 0);
    while ((state = rw_tile_look(tile)) == RW_TILE_OPEN) {
    }
    return state;
}

/* A part of a graph: the queues of a tile, or NULL for a tile that takes no part. */
typedef struct {
    unsigned tile;
    const void *incoming, *outgoing;
} rw_route;

/* Connects tiles to other queues while they run. Each has answered all that was published to it before, so that what is under way
 * arrives once: routes are in the order in which elements pass their tiles, and the last queue of the old graph has room for what is
 * under way, or somebody else who pops. False if a tile has stopped (rw_tile_look tells why); none is connected then. */
static inline bool rw_connect(const rw_route *routes, size_t count)
{
    bool all_closed = true;
    for (size_t i = 0; i < count; i++)
        if (rw_tile_look(routes[i].tile) > RW_TILE_OPEN) return false;
    for (size_t i = 0; i < count; i++) all_closed &= rw_tile_close(routes[i].tile) == RW_TILE_CLOSED;
    if (!all_closed) return false;
    for (size_t i = 0; i < count; i++)
        if (routes[i].incoming) rw_tile_open(routes[i].tile, routes[i].incoming, routes[i].outgoing);
    return true;
}

#ifdef __cplusplus
}
#endif

#endif
