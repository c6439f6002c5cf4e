/* What the unit `store` does, by a program, in the same region of memory. */
#ifndef STORE_REGION_H
#define STORE_REGION_H

#include "rackwright/store.h"

/* The item of a key, or NULL; `outcome` says why there is none. */
const rw_store_item *region_find(const rw_store *store, const void *key, size_t key_bytes, rw_store_outcome *outcome);

/* The number of an item, in the order in which items are stored. */
uint64_t region_version(const rw_store_item *item);

/* Where the value of an item is. */
const void *region_value(const rw_store_item *item);

/* A set, add, replace, append, prepend, or compare and set, for which alone `expected` counts. */
rw_store_outcome region_store(rw_store *store, rw_store_operation operation, uint64_t expected, uint32_t expiry, const void *key,
                              size_t key_bytes, const void *value, size_t value_bytes, uint32_t flags);
/* Changes the time at which an item expires. */
rw_store_outcome region_touch(rw_store *store, uint32_t expiry, const void *key, size_t key_bytes);
/* Adds to the number that a value is, or subtracts from it; gives the new number. */
rw_store_outcome region_count(rw_store *store, bool up, uint64_t by, const void *key, size_t key_bytes, uint64_t *number);
rw_store_outcome region_delete(rw_store *store, const void *key, size_t key_bytes);

/* Obeys whole requests as the unit does; gives the bytes of their responses, which must have room. */
size_t region_serve(rw_store *store, const void *requests, size_t bytes, void *responses);

/* SipHash-2-4 (Aumasson and Bernstein 2012). */
uint64_t region_hash(const uint64_t key[2], const void *data, size_t bytes);

#endif
