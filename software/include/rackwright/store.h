/* A store of keys and values in memory, which the unit `store` answers from; C and C++.
 *
 * A region is a table of buckets and the items that they lead to, in grains of 32 bytes; requests stand one behind the other in
 * memory, and so do their responses. hardware/src/main/scala/rackwright/store/README.md has both layouts, which are those of the
 * structures here. While an operation is under way the region belongs to the unit. */
#ifndef RACKWRIGHT_STORE_H
#define RACKWRIGHT_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "rackwright/rocc.h"
#include "rackwright/store_commands.h"

#ifdef __cplusplus
extern "C" {
#endif

#define RW_STORE_MAGIC 0x02535752 /* "RWS", and the version of the layout */
enum {
    RW_STORE_GRAIN = 32,
    RW_STORE_CLASSES = 64,
    RW_STORE_TABLE = 16, /* the grain that the table begins with */
    RW_STORE_LEAST_BUCKET_BITS = 3,
    RW_STORE_MOST_BUCKET_BITS = 28,
    RW_STORE_KEY_MOST = 250,
    RW_STORE_VALUE_MOST = 1 << 20,
    RW_STORE_USED = 0x4b56,
    RW_STORE_FREE = 0x4656
};

/* The first grains of a region; what follows up to the table is 0. */
typedef struct {
    uint32_t magic, time; /* in seconds, from 1 on: a program advances it, also while an operation is under way */
    uint64_t hash_key[2];
    uint32_t total; /* grains of the region */
    uint8_t bucket_bits, flushes, rest[2]; /* whether a flush is pending */
    uint32_t used, flush_time; /* the first grain that no item ever had; when the flush is due */
    uint64_t items, version, reserved;
    uint32_t free_heads[RW_STORE_CLASSES];
    uint32_t room[48];
    uint32_t buckets[];
} rw_store;

/* The first grain of an item; its key follows, and from the next grain on its value. */
typedef struct {
    uint32_t next, hash, value_bytes, grains, flags;
    uint8_t key_bytes, version_high;
    uint16_t seal;
    uint32_t version_low, expiry; /* the time from which on it does not exist any more; 0: none */
} rw_store_item;

/* Of them, a compare and set has the version that it expects in the 8 bytes before its key, and an increment or decrement the number
 * to add or subtract; a response to a get with version has the version in the 8 bytes before its value, and one to an increment or
 * decrement the new number. A flush and a count are for all items, and have no key; a response to a count has their
 * number in 8 bytes. */
typedef enum {
    RW_STORE_GET,
    RW_STORE_SET,
    RW_STORE_DELETE,
    RW_STORE_ADD,
    RW_STORE_REPLACE,
    RW_STORE_COMPARE_AND_SET,
    RW_STORE_GET_VERSION,
    RW_STORE_TOUCH,
    RW_STORE_INCREMENT,
    RW_STORE_DECREMENT,
    RW_STORE_APPEND,
    RW_STORE_PREPEND,
    RW_STORE_FLUSH,
    RW_STORE_COUNT
} rw_store_operation;

/* How a request has ended. */
typedef enum {
    RW_STORE_OK,
    RW_STORE_MISSING,
    RW_STORE_TOO_LONG,
    RW_STORE_NO_MEMORY,
    RW_STORE_BROKEN,
    RW_STORE_UNKNOWN,
    RW_STORE_ACCESS_FAULT,
    RW_STORE_EXISTS
} rw_store_outcome;

/* Beside the operation of a set, add, replace, compare and set or touch: in the 8 bytes before the key, behind a version, is the time
 * at which the item expires; of a flush, the time at which all items are removed. */
#define RW_STORE_EXPIRES 0x8000

/* Key and value follow, each with zeros up to a multiple of 8 bytes. */
typedef struct {
    uint16_t operation, key_bytes;
    uint32_t value_bytes, flags, tag;
} rw_store_request;

/* The value follows in the same way. */
typedef struct {
    uint16_t outcome, operation;
    uint32_t value_bytes, flags, tag;
} rw_store_response;

static inline size_t rw_store_padded(size_t bytes) { return (bytes + 7) & ~(size_t)7; }

/* Makes an empty store of memory that is aligned to 64 bytes; false where its table has no room in it. */
static inline bool rw_store_format(void *memory, size_t bytes, unsigned bucket_bits, const uint64_t hash_key[2])
{
    rw_store *store = (rw_store *)memory;
    const size_t grains = bytes / RW_STORE_GRAIN;
    if (bucket_bits < RW_STORE_LEAST_BUCKET_BITS || bucket_bits > RW_STORE_MOST_BUCKET_BITS) return false;
    const size_t first_item = RW_STORE_TABLE + ((size_t)1 << bucket_bits) / 8;
    if ((uintptr_t)memory % 64 || grains < first_item || grains > UINT32_MAX) return false;
    memset(memory, 0, first_item * RW_STORE_GRAIN);
    store->hash_key[0] = hash_key[0], store->hash_key[1] = hash_key[1];
    store->total = (uint32_t)grains;
    store->bucket_bits = (uint8_t)bucket_bits;
    store->used = (uint32_t)first_item;
    store->time = 1;
    store->magic = RW_STORE_MAGIC;
    return true;
}

/* Copies data and the zeros behind it; gives what follows. */
static inline char *rw_store_append(char *at, const void *data, size_t bytes)
{
    if (!bytes) return at;
    memset(at + rw_store_padded(bytes) - 8, 0, 8);
    memcpy(at, data, bytes);
    return at + rw_store_padded(bytes);
}

/* Writes the first bytes of a request; gives where its key belongs, behind a version if it has one. */
static inline char *rw_store_begin(void *at, rw_store_operation operation, size_t key_bytes, size_t value_bytes, uint32_t flags,
                                   uint32_t tag)
{
    const rw_store_request header = {(uint16_t)operation, (uint16_t)key_bytes, (uint32_t)value_bytes, flags, tag};
    return rw_store_append((char *)at, &header, sizeof header);
}

/* Writes a request where there is room for it, aligned to 8 bytes; gives where the next one begins. */
static inline void *rw_store_put(void *at, rw_store_operation operation, const void *key, size_t key_bytes, const void *value,
                                 size_t value_bytes, uint32_t flags, uint32_t tag)
{
    char *to = rw_store_begin(at, operation, key_bytes, value_bytes, flags, tag);
    to = rw_store_append(to, key, key_bytes);
    return rw_store_append(to, value, value_bytes);
}

/* The same for a set of a key whose item has this version. */
static inline void *rw_store_put_if(void *at, uint64_t version, const void *key, size_t key_bytes, const void *value, size_t value_bytes,
                                    uint32_t flags, uint32_t tag)
{
    char *to = rw_store_begin(at, RW_STORE_COMPARE_AND_SET, key_bytes, value_bytes, flags, tag);
    to = rw_store_append(to, &version, sizeof version);
    to = rw_store_append(to, key, key_bytes);
    return rw_store_append(to, value, value_bytes);
}

/* The store that the unit answers from. */
static inline void rw_store_open(rw_store *store)
{
    RACKWRIGHT_COMMAND(STORE_CUSTOM, STORE_REGION, (uintptr_t)store, 0);
}

/* Has the unit obey requests; it takes a few operations, which it does one after the other. */
static inline void rw_store_start(const void *requests, size_t bytes, void *responses, size_t room)
{
    rackwright_fence();
    RACKWRIGHT_COMMAND(STORE_CUSTOM, STORE_SRC, (uintptr_t)requests, bytes);
    RACKWRIGHT_COMMAND(STORE_CUSTOM, STORE_LIMIT, room, 0);
    RACKWRIGHT_COMMAND(STORE_CUSTOM, STORE_DEST_AND_START, (uintptr_t)responses, 0);
}

/* Waits until all of them are obeyed; gives the bytes of the last one's responses. */
static inline size_t rw_store_wait(void)
{
    (void)RACKWRIGHT_QUERY(STORE_CUSTOM, STORE_CHECK_COMPLETION);
    size_t bytes = RACKWRIGHT_QUERY(STORE_CUSTOM, STORE_OUTPUT_BYTES);
    rackwright_fence();
    return bytes;
}

#ifdef __cplusplus
}
#endif

#endif
