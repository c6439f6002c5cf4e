/* Queues in memory for any number of producers and consumers, programs and units on tiles in any mixture; C and C++.
 *
 * Each side draws tickets from a counter of its own: ticket t is for the place t modulo length. A place is a line with an element of
 * 8 to 56 bytes and the turn: t while the place is free for the producer with ticket t, t + 1 when its element can be taken. All
 * functions are linearizable: an element is in the queue from the moment at which its producer has its ticket, and whoever has the
 * ticket for its place waits until it has been written. hardware/src/main/scala/rackwright/queue/README.md has the layout, which units
 * know. A queue with one producer and one consumer, or with packets, is a rw_queue. */
#ifndef RACKWRIGHT_SHARED_QUEUE_H
#define RACKWRIGHT_SHARED_QUEUE_H

#include "rackwright/queue.h"

#ifdef __cplusplus
extern "C" {
#endif

#define RW_SHARED_MAGIC 0x3145524148535752 /* "RWSHARE1" */
#define RW_SHARED_MOST_BYTES 56

/* What of a descriptor is an element of a shared queue: all but the last word. */
#define RW_SHARED_DESCRIPTOR_BYTES offsetof(rw_descriptor, reserved)

typedef struct {
    uint64_t words[RW_SHARED_MOST_BYTES / 8];
    uint64_t turn;
} rw_shared_place;

typedef struct {
    /* Line 0: what the queue is, and whether no element follows. */
    uint64_t magic;
    uint64_t base;
    uint32_t element_bytes, length;
    uint64_t closed;
    uint64_t header_rest[4];
    /* Line 1: the next ticket of a producer. */
    uint64_t puts;
    uint64_t puts_rest[7];
    /* Line 2: the next ticket of a consumer. */
    uint64_t takes;
    uint64_t takes_rest[7];
} rw_shared_queue;

/* Makes an empty queue of `memory`, a multiple of a line, with `length` places behind it: a power of two from 2 on. */
static inline void rw_shared_prepare(rw_shared_queue *queue, uint32_t length, uint32_t element_bytes)
{
    rw_shared_place *places = (rw_shared_place *)(queue + 1);
    queue->base = (uint64_t)(uintptr_t)places;
    queue->element_bytes = element_bytes;
    queue->length = length;
    queue->closed = queue->puts = queue->takes = 0;
    for (uint32_t i = 0; i < length; i++) places[i].turn = i;
    __atomic_store_n(&queue->magic, RW_SHARED_MAGIC, __ATOMIC_RELEASE);
}

/* A queue of `length` elements (a power of two from 2 on) of `element_bytes` (a multiple of 8, up to 56), empty; NULL without memory
 * or for sizes that there are not. */
static inline rw_shared_queue *rw_shared_create(uint32_t length, uint32_t element_bytes)
{
    bool sizes = length >= 2 && length <= RW_QUEUE_LONGEST && !(length & (length - 1)) && element_bytes &&
                 element_bytes <= RW_SHARED_MOST_BYTES && element_bytes % 8 == 0;
    if (!sizes) return NULL;
    rw_shared_queue *queue =
        (rw_shared_queue *)aligned_alloc(RW_LINE_BYTES, sizeof *queue + (size_t)length * sizeof(rw_shared_place));
    if (queue) rw_shared_prepare(queue, length, element_bytes);
    return queue;
}

static inline void rw_shared_destroy(rw_shared_queue *queue) { free(queue); }

static inline rw_shared_place *rw_shared_at(const rw_shared_queue *queue, uint64_t ticket)
{
    return (rw_shared_place *)(uintptr_t)queue->base + (ticket & (queue->length - 1));
}

/* Whether it is `turn` at a place, by an atomic operation: that brings the line to this hart's cache together with the permission to
 * write there, which a load would have to be followed by a request for. */
static inline bool rw_shared_is_turn(rw_shared_place *place, uint64_t turn)
{
    return __atomic_fetch_or(&place->turn, 0, __ATOMIC_ACQUIRE) == turn;
}

/* Waits until it is `turn` at a place. */
static inline void rw_shared_await(rw_shared_place *place, uint64_t turn)
{
    if (rw_shared_is_turn(place, turn)) return;
    while (__atomic_load_n(&place->turn, __ATOMIC_ACQUIRE) != turn) {
    }
}

/* Ends a peer's turn at a place. A fence and a store are cheaper than what compilers make of a store with release semantics. */
static inline void rw_shared_pass(rw_shared_place *place, uint64_t turn)
{
    __atomic_thread_fence(__ATOMIC_RELEASE);
    __atomic_store_n(&place->turn, turn, __ATOMIC_RELAXED);
}

/* Draws `count` tickets, which may wait for the other side. Turns order everything else. */
static inline uint64_t rw_shared_draw_all(uint64_t *own, uint64_t count)
{
    return __atomic_fetch_add(own, count, __ATOMIC_RELAXED);
}

/* Writes the element of a ticket, as soon as its place is free. */
static inline void rw_shared_fill(rw_shared_queue *queue, uint64_t ticket, const void *element)
{
    rw_shared_place *place = rw_shared_at(queue, ticket);
    rw_shared_await(place, ticket);
    rw_queue_move(place->words, element, queue->element_bytes);
    rw_shared_pass(place, ticket + 1);
}

/* Reads an element that has been written, and frees its place. */
static inline void rw_shared_read(rw_shared_queue *queue, rw_shared_place *place, uint64_t ticket, void *element)
{
    rw_queue_move(element, place->words, queue->element_bytes);
    rw_shared_pass(place, ticket + queue->length);
}

/* Draws up to `count` tickets, as many as the other side's counter allowed with `lead` more when it was read; gives how many, and the
 * first. */
static inline size_t rw_shared_draw(uint64_t *own, const uint64_t *other, uint64_t lead, size_t count, uint64_t *first)
{
    *first = __atomic_load_n(own, __ATOMIC_ACQUIRE);
    for (;;) {
        /* The other counter is read later: it only grows, so that nothing was there at that time if it says so. */
        int64_t there = (int64_t)(__atomic_load_n(other, __ATOMIC_ACQUIRE) + lead - *first);
        if (there <= 0) return 0;
        size_t drawn = (uint64_t)there < count ? (size_t)there : count;
        if (__atomic_compare_exchange_n(own, first, *first + drawn, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) return drawn;
    }
}

/* Pushes up to `count` elements; gives how many: none only if there is no place. */
static inline size_t rw_shared_try_push_many(rw_shared_queue *queue, const void *elements, size_t count)
{
    uint64_t first;
    size_t done = rw_shared_draw(&queue->puts, &queue->takes, queue->length, count, &first);
    for (size_t i = 0; i < done; i++)
        rw_shared_fill(queue, first + i, (const unsigned char *)elements + i * queue->element_bytes);
    return done;
}

/* Pops up to `count` elements; gives how many: none only if there is none. */
static inline size_t rw_shared_try_pop_many(rw_shared_queue *queue, void *elements, size_t count)
{
    uint64_t first;
    size_t done = rw_shared_draw(&queue->takes, &queue->puts, 0, count, &first);
    for (size_t i = 0; i < done; i++) {
        rw_shared_place *place = rw_shared_at(queue, first + i);
        rw_shared_await(place, first + i + 1);
        rw_shared_read(queue, place, first + i, (unsigned char *)elements + i * queue->element_bytes);
    }
    return done;
}

static inline bool rw_shared_try_push(rw_shared_queue *queue, const void *element)
{
    return rw_shared_try_push_many(queue, element, 1) == 1;
}

static inline bool rw_shared_try_pop(rw_shared_queue *queue, void *element)
{
    return rw_shared_try_pop_many(queue, element, 1) == 1;
}

/* Pushes `count` elements, one behind the other, and waits for their places. */
static inline void rw_shared_push_many(rw_shared_queue *queue, const void *elements, size_t count)
{
    uint64_t first = rw_shared_draw_all(&queue->puts, count);
    for (size_t i = 0; i < count; i++)
        rw_shared_fill(queue, first + i, (const unsigned char *)elements + i * queue->element_bytes);
}

/* Waits for a place. */
static inline void rw_shared_push(rw_shared_queue *queue, const void *element) { rw_shared_push_many(queue, element, 1); }

/* Says that no element follows: every push has returned. */
static inline void rw_shared_close(rw_shared_queue *queue) { __atomic_store_n(&queue->closed, 1, __ATOMIC_RELEASE); }

/* Pops `count` elements and waits for them; gives how many, fewer only when none follows. */
static inline size_t rw_shared_pop_many(rw_shared_queue *queue, void *elements, size_t count)
{
    uint64_t first = rw_shared_draw_all(&queue->takes, count);
    for (size_t i = 0; i < count; i++) {
        rw_shared_place *place = rw_shared_at(queue, first + i);
        bool written = rw_shared_is_turn(place, first + i + 1);
        while (!written) {
            bool closed = __atomic_load_n(&queue->closed, __ATOMIC_ACQUIRE);
            if (closed && (int64_t)(__atomic_load_n(&queue->puts, __ATOMIC_ACQUIRE) - (first + i)) <= 0) return i;
            written = __atomic_load_n(&place->turn, __ATOMIC_ACQUIRE) == first + i + 1;
        }
        rw_shared_read(queue, place, first + i, (unsigned char *)elements + i * queue->element_bytes);
    }
    return count;
}

/* Waits for an element; false when none follows. */
static inline bool rw_shared_pop(rw_shared_queue *queue, void *element) { return rw_shared_pop_many(queue, element, 1) == 1; }

#ifdef __cplusplus
}
#endif

#endif
