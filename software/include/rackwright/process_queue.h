/* Queues between the units on tiles and processes of an operating system, by virtual addresses; C and C++.
 *
 * A process opens an endpoint of a tile: two queues of rackwright/queue.h in its own memory. Several processes have endpoints of
 * one tile, which serves them in turn. Pages need not be there: an access that is refused stops the endpoint, or ends a
 * descriptor, and the functions here have the kernel provide the page and go on.
 * hardware/src/main/scala/rackwright/queue/README.md is the contract. */
#ifndef RACKWRIGHT_PROCESS_QUEUE_H
#define RACKWRIGHT_PROCESS_QUEUE_H

#include <sched.h>

#include "rackwright/endpoint_commands.h"
#include "rackwright/process.h"
#include "rackwright/queue.h"
#include "rackwright/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Tiles have eight numbers each of the opcode that they share, in their order. */
#define RW_TILE_MOST 16
#define RW_ENDPOINT_NONE UINT64_MAX

/* Looks at an empty queue after which the endpoint itself is looked at, and another process may run. */
#define RW_ENDPOINT_LOOKS 64

#define RW_ENDPOINT_CASE(tile, command, first, second)                                                     \
    case tile:                                                                                             \
        return RACKWRIGHT_CALL(TILE_CUSTOM, 8 * tile + command, first, second);
#define RW_ENDPOINT_CALL(tile, command, first, second)                                                     \
    switch (tile) {                                                                                        \
        RW_ENDPOINT_CASE(0, command, first, second)                                                        \
        RW_ENDPOINT_CASE(1, command, first, second)                                                        \
        RW_ENDPOINT_CASE(2, command, first, second)                                                        \
        RW_ENDPOINT_CASE(3, command, first, second)                                                        \
        RW_ENDPOINT_CASE(4, command, first, second)                                                        \
        RW_ENDPOINT_CASE(5, command, first, second)                                                        \
        RW_ENDPOINT_CASE(6, command, first, second)                                                        \
        RW_ENDPOINT_CASE(7, command, first, second)                                                        \
        RW_ENDPOINT_CASE(8, command, first, second)                                                        \
        RW_ENDPOINT_CASE(9, command, first, second)                                                        \
        RW_ENDPOINT_CASE(10, command, first, second)                                                       \
        RW_ENDPOINT_CASE(11, command, first, second)                                                       \
        RW_ENDPOINT_CASE(12, command, first, second)                                                       \
        RW_ENDPOINT_CASE(13, command, first, second)                                                       \
        RW_ENDPOINT_CASE(14, command, first, second)                                                       \
        RW_ENDPOINT_CASE(15, command, first, second)                                                       \
    }                                                                                                      \
    return RW_ENDPOINT_NONE;

/* An endpoint of this process. */
typedef struct {
    unsigned tile;
    uint64_t number;
    rw_queue *incoming, *outgoing;
} rw_endpoint;

static inline uint64_t rw_endpoint_ask_open(unsigned tile, uint64_t incoming, uint64_t outgoing)
{
    RW_ENDPOINT_CALL(tile, TILE_OPEN, incoming, outgoing)
}
static inline uint64_t rw_endpoint_ask_close(unsigned tile, uint64_t number) { RW_ENDPOINT_CALL(tile, TILE_CLOSE, number, 0) }
static inline uint64_t rw_endpoint_ask_look(unsigned tile, uint64_t number) { RW_ENDPOINT_CALL(tile, TILE_LOOK, number, 0) }
static inline uint64_t rw_endpoint_ask_refused(unsigned tile, uint64_t number) { RW_ENDPOINT_CALL(tile, TILE_REFUSED, number, 0) }
static inline uint64_t rw_endpoint_ask_await(unsigned tile, uint64_t number, bool wakes)
{
    RW_ENDPOINT_CALL(tile, TILE_AWAIT, number, wakes)
}
static inline uint64_t rw_endpoint_ask_resume(unsigned tile, uint64_t number) { RW_ENDPOINT_CALL(tile, TILE_RESUME, number, 0) }

/* Opens an endpoint of a tile, from which `incoming` takes descriptors, and which gives endings to `outgoing`; false if all are in
 * use. */
static inline bool rw_endpoint_open(rw_endpoint *endpoint, unsigned tile, rw_queue *incoming, rw_queue *outgoing)
{
    endpoint->tile = tile;
    endpoint->incoming = incoming;
    endpoint->outgoing = outgoing;
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    endpoint->number = rw_endpoint_ask_open(tile, (uint64_t)(uintptr_t)incoming, (uint64_t)(uintptr_t)outgoing);
    return endpoint->number != RW_ENDPOINT_NONE;
}

/* Its state; RW_TILE_CLOSED after it has been released. */
static inline rw_tile_state rw_endpoint_look(const rw_endpoint *endpoint)
{
    return (rw_tile_state)rw_endpoint_ask_look(endpoint->tile, endpoint->number);
}

/* If it has stopped at a page that was not there, has the kernel provide that page, and lets it go on. False if it has stopped for
 * good: a wrong queue, or a page that the process may not have. */
static inline bool rw_endpoint_serve(const rw_endpoint *endpoint)
{
    const rw_tile_state state = rw_endpoint_look(endpoint);
    if (state == RW_TILE_OPEN) return true;
    if (state != RW_TILE_REFUSED) return false;
    const uint64_t fault = rw_endpoint_ask_refused(endpoint->tile, endpoint->number);
    if (!(fault & RACKWRIGHT_FAULT_KNOWN) || fault & RACKWRIGHT_FAULT_TABLES) return false;
    const uint64_t place = fault & ~UINT64_C(15);
    if (!rackwright_provide(place, place + 1, fault & RACKWRIGHT_FAULT_WRITE)) return false;
    (void)rw_endpoint_ask_resume(endpoint->tile, endpoint->number);
    return true;
}

/* Waits for an ending; false if the endpoint has stopped for good. */
static inline bool rw_endpoint_pop(const rw_endpoint *endpoint, rw_ending *ending)
{
    for (;;) {
        for (unsigned looks = 0; looks < RW_ENDPOINT_LOOKS; looks++) {
            if (rw_queue_try_pop(endpoint->outgoing, ending)) return true;
        }
        if (!rw_endpoint_serve(endpoint)) return rw_queue_try_pop(endpoint->outgoing, ending);
        sched_yield();
    }
}

/* Waits for a place for a descriptor; false if the endpoint has stopped for good. */
static inline bool rw_endpoint_push(const rw_endpoint *endpoint, const rw_descriptor *descriptor)
{
    while (!rw_queue_try_push(endpoint->incoming, descriptor)) {
        if (!rw_endpoint_serve(endpoint)) return false;
        sched_yield();
    }
    return true;
}

/* After the ending of a descriptor: provides the pages of its buffers that the unit was refused. Tells whether to push it again. */
static inline bool rw_ending_serve(rackwright_residence *residence, const rw_ending *ending, const rw_descriptor *descriptor)
{
    const rackwright_range ranges[] = {
        {descriptor->source, descriptor->source_bytes, false},
        {descriptor->destination, descriptor->capacity, true},
    };
    const bool faulted = ending->status == RACKWRIGHT_ACCESS_FAULT && ending->input_offset & RACKWRIGHT_FAULT_KNOWN;
    return faulted && rackwright_make_resident(residence, ending->input_offset, ranges, 2);
}

/* Releases an endpoint when all that was pushed has been answered, and waits for that; its state before, if it had stopped for
 * good. */
static inline rw_tile_state rw_endpoint_close(const rw_endpoint *endpoint)
{
    (void)rw_endpoint_ask_close(endpoint->tile, endpoint->number);
    rw_tile_state state;
    while ((state = rw_endpoint_look(endpoint)) != RW_TILE_CLOSED) {
        if (!rw_endpoint_serve(endpoint) && rw_endpoint_look(endpoint) != RW_TILE_CLOSED) {
            (void)rw_endpoint_ask_close(endpoint->tile, endpoint->number);
            return state;
        }
        sched_yield();
    }
    return state;
}

#ifdef __cplusplus
}
#endif

#endif
