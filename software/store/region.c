#include "region.h"

enum { MOST_STEPS = 4095 };

typedef struct {
    uint32_t number, grains;
} size_class;

/* Where a key is, or would be: its place, and the link that leads there. */
typedef struct {
    uint64_t hash;
    uint32_t place;
    uint32_t *link;
    rw_store_outcome outcome;
} found;

static rw_store_item *item_at(const rw_store *store, uint32_t place)
{
    return (rw_store_item *)((char *)store + (size_t)place * RW_STORE_GRAIN);
}

static uint32_t grains_of(size_t bytes) { return (uint32_t)((bytes + RW_STORE_GRAIN - 1) / RW_STORE_GRAIN); }

static uint32_t first_item(const rw_store *store) { return RW_STORE_TABLE + (UINT32_C(1) << store->bucket_bits) / 8; }

static bool holds(const rw_store *store, uint32_t place) { return place >= first_item(store) && place < store->total; }

/* The least class in which so many grains find room, or the greatest that finds room in them. */
static size_class class_of(uint32_t grains, bool below)
{
    const uint32_t most = grains - 1;
    const unsigned shift = most < 8 ? 0 : 29 - (unsigned)__builtin_clz(most);
    const uint32_t lead = most >> shift, number = shift ? 4 * shift + lead : lead;
    const bool less = below && (lead + 1) << shift > grains;
    return (size_class){number - less, (lead + 1 - less) << shift};
}

static bool is_item(const rw_store *store, uint32_t place, const rw_store_item *item)
{
    return item->seal == RW_STORE_USED && item->value_bytes <= RW_STORE_VALUE_MOST &&
           (uint64_t)grains_of(item->key_bytes) + grains_of(item->value_bytes) < item->grains &&
           (uint64_t)place + item->grains <= store->total;
}

static found look(const rw_store *store, const void *key, size_t key_bytes)
{
    found at = {region_hash(store->hash_key, key, key_bytes), 0, NULL, RW_STORE_MISSING};
    at.link = (uint32_t *)&store->buckets[at.hash & ((UINT64_C(1) << store->bucket_bits) - 1)];
    for (unsigned step = 0; (at.place = *at.link); step++) {
        rw_store_item *item = item_at(store, at.place);
        at.outcome = RW_STORE_BROKEN;
        if (!holds(store, at.place) || step == MOST_STEPS || !is_item(store, at.place, item)) return at;
        at.outcome = RW_STORE_OK;
        if (item->hash == at.hash >> 32 && item->key_bytes == key_bytes && !memcmp(item + 1, key, key_bytes)) return at;
        at.link = &item->next;
        at.outcome = RW_STORE_MISSING;
    }
    return at;
}

/* A place for an item of a class, or 0. */
static uint32_t take(rw_store *store, size_class size, rw_store_outcome *outcome)
{
    uint32_t place = store->free_heads[size.number];
    if (!place) {
        *outcome = RW_STORE_NO_MEMORY;
        if ((uint64_t)store->used + size.grains > store->total) return 0;
        *outcome = RW_STORE_BROKEN;
        if (store->used < first_item(store)) return 0;
        place = store->used;
        store->used += size.grains;
        return place;
    }
    *outcome = RW_STORE_BROKEN;
    if (!holds(store, place) || (uint64_t)place + size.grains > store->total) return 0;
    const rw_store_item *item = item_at(store, place);
    if (item->seal != RW_STORE_FREE || item->grains != size.grains) return 0;
    store->free_heads[size.number] = item->next;
    return place;
}

static void give(rw_store *store, uint32_t place)
{
    rw_store_item *item = item_at(store, place);
    const size_class size = class_of(item->grains, true);
    *item = (rw_store_item){.next = store->free_heads[size.number], .grains = size.grains, .seal = RW_STORE_FREE};
    store->free_heads[size.number] = place;
}

const void *region_value(const rw_store_item *item) { return item + 1 + grains_of(item->key_bytes); }

uint64_t region_version(const rw_store_item *item) { return (uint64_t)item->version_high << 32 | item->version_low; }

static void set_version(rw_store_item *item, uint64_t version)
{
    item->version_low = (uint32_t)version;
    item->version_high = (uint8_t)(version >> 32);
}

/* The item that was found, if it has not expired. */
static rw_store_item *current(const rw_store *store, const found *at)
{
    rw_store_item *item = at->outcome == RW_STORE_OK ? item_at(store, at->place) : NULL;
    return item && item->expiry && item->expiry <= store->time ? NULL : item;
}

const rw_store_item *region_find(const rw_store *store, const void *key, size_t key_bytes, rw_store_outcome *outcome)
{
    *outcome = RW_STORE_TOO_LONG;
    if (!key_bytes || key_bytes > RW_STORE_KEY_MOST) return NULL;
    const found at = look(store, key, key_bytes);
    const rw_store_item *item = current(store, &at);
    *outcome = at.outcome == RW_STORE_OK && !item ? RW_STORE_MISSING : at.outcome;
    return item;
}

static bool joins(rw_store_operation operation) { return operation == RW_STORE_APPEND || operation == RW_STORE_PREPEND; }

/* Whether an operation that stores may do so. */
static rw_store_outcome allowed(rw_store_operation operation, uint64_t expected, const rw_store_item *item)
{
    if (operation == RW_STORE_ADD && item) return RW_STORE_EXISTS;
    if ((operation == RW_STORE_REPLACE || operation == RW_STORE_COMPARE_AND_SET) && !item) return RW_STORE_MISSING;
    if (joins(operation) && !item) return RW_STORE_MISSING;
    return operation == RW_STORE_COMPARE_AND_SET && region_version(item) != expected ? RW_STORE_EXISTS : RW_STORE_OK;
}

rw_store_outcome region_store(rw_store *store, rw_store_operation operation, uint64_t expected, uint32_t expiry, const void *key,
                              size_t key_bytes, const void *value, size_t value_bytes, uint32_t flags)
{
    if (!key_bytes || key_bytes > RW_STORE_KEY_MOST || value_bytes > RW_STORE_VALUE_MOST) return RW_STORE_TOO_LONG;
    const found at = look(store, key, key_bytes);
    if (at.outcome != RW_STORE_OK && at.outcome != RW_STORE_MISSING) return at.outcome;
    const bool replaces = at.outcome == RW_STORE_OK;
    const rw_store_item *now = current(store, &at);
    rw_store_outcome outcome = allowed(operation, expected, now);
    if (outcome != RW_STORE_OK) return outcome;
    const rw_store_item *before = joins(operation) ? now : NULL;
    const size_t kept = before ? before->value_bytes : 0, total = kept + value_bytes;
    if (total > RW_STORE_VALUE_MOST) return RW_STORE_TOO_LONG;
    const size_class size = class_of(1 + grains_of(key_bytes) + grains_of(total), false);
    const uint32_t place = take(store, size, &outcome);
    if (!place) return outcome;
    rw_store_item *item = item_at(store, place);
    *item = (rw_store_item){.next = replaces ? item_at(store, at.place)->next : 0,
                            .hash = (uint32_t)(at.hash >> 32),
                            .value_bytes = (uint32_t)total,
                            .grains = size.grains,
                            .flags = before ? before->flags : flags,
                            .key_bytes = (uint8_t)key_bytes,
                            .seal = RW_STORE_USED,
                            .expiry = before ? before->expiry : expiry};
    set_version(item, ++store->version);
    memset((char *)(item + 1) + rw_store_padded(key_bytes) - 8, 0, 8);
    memcpy(item + 1, key, key_bytes);
    char *to = (char *)region_value(item);
    if (before) memcpy(to + (operation == RW_STORE_PREPEND ? value_bytes : 0), region_value(before), kept);
    memcpy(to + (operation == RW_STORE_APPEND ? kept : 0), value, value_bytes);
    *at.link = place;
    if (replaces) give(store, at.place);
    else store->items++;
    return RW_STORE_OK;
}

rw_store_outcome region_delete(rw_store *store, const void *key, size_t key_bytes)
{
    if (!key_bytes || key_bytes > RW_STORE_KEY_MOST) return RW_STORE_TOO_LONG;
    const found at = look(store, key, key_bytes);
    if (at.outcome != RW_STORE_OK) return at.outcome;
    if (!current(store, &at)) return RW_STORE_MISSING;
    *at.link = item_at(store, at.place)->next;
    give(store, at.place);
    store->items--;
    return RW_STORE_OK;
}

rw_store_outcome region_touch(rw_store *store, uint32_t expiry, const void *key, size_t key_bytes)
{
    rw_store_outcome outcome;
    rw_store_item *item = (rw_store_item *)region_find(store, key, key_bytes, &outcome);
    if (item) item->expiry = expiry;
    return outcome;
}

/* Removes all items, which leaves a region as it was formatted, but for the version. */
static void empty(rw_store *store)
{
    const size_t heads = offsetof(rw_store, free_heads);
    memset(store->free_heads, 0, (size_t)first_item(store) * RW_STORE_GRAIN - heads);
    store->used = first_item(store);
    store->items = 0;
    store->flush_time = 0, store->flushes = 0;
}

static rw_store_outcome flush(rw_store *store, uint32_t when, size_t key_bytes)
{
    if (key_bytes) return RW_STORE_TOO_LONG;
    if (when > store->time) {
        store->flush_time = when, store->flushes = 1;
        return RW_STORE_OK;
    }
    empty(store);
    store->version++;
    return RW_STORE_OK;
}

static bool is_space(char of) { return of == ' ' || (of >= '\t' && of <= '\r'); }

/* The number that a value is. */
static bool number_of(const char *text, uint32_t bytes, uint64_t *number)
{
    uint32_t at = 0;
    bool begun = false, fits = bytes <= RW_STORE_GRAIN;
    while (at < bytes && is_space(text[at])) at++;
    for (*number = 0; fits && at < bytes && text[at] >= '0' && text[at] <= '9'; at++, begun = true)
        fits = !__builtin_mul_overflow(*number, 10, number) && !__builtin_add_overflow(*number, text[at] - '0', number);
    return fits && begun && (at == bytes || is_space(text[at]) || text[at] == 0);
}

rw_store_outcome region_count(rw_store *store, bool up, uint64_t by, const void *key, size_t key_bytes, uint64_t *number)
{
    rw_store_outcome outcome;
    rw_store_item *item = (rw_store_item *)region_find(store, key, key_bytes, &outcome);
    if (!item) return outcome;
    char *text = (char *)region_value(item);
    if (!number_of(text, item->value_bytes, number)) return RW_STORE_EXISTS;
    *number = up ? *number + by : *number > by ? *number - by : 0;
    char digits[20];
    uint32_t first = sizeof digits, count;
    uint64_t left = *number;
    do digits[--first] = (char)('0' + left % 10);
    while (left /= 10);
    count = (uint32_t)sizeof digits - first;
    if (count > item->value_bytes) item->value_bytes = count;
    memset(text, ' ', item->value_bytes);
    memcpy(text, digits + first, count);
    set_version(item, ++store->version);
    return RW_STORE_OK;
}

/* The value of an item, behind its version if that is wanted; gives what follows. */
static char *put_item(rw_store_response *response, const rw_store_item *item, bool with_version)
{
    char *to = (char *)(response + 1);
    response->flags = item->flags, response->value_bytes = item->value_bytes;
    const uint64_t version = region_version(item);
    if (with_version) to = rw_store_append(to, &version, sizeof version);
    return rw_store_append(to, region_value(item), item->value_bytes);
}

size_t region_serve(rw_store *store, const void *requests, size_t bytes, void *responses)
{
    const char *from = requests, *end = from + bytes;
    char *to = responses;
    if (store->flushes && store->flush_time <= store->time) empty(store);
    while (from < end) {
        const rw_store_request *request = (const rw_store_request *)from;
        const rw_store_operation operation = (rw_store_operation)(request->operation & ~RW_STORE_EXPIRES);
        const bool counts = operation == RW_STORE_INCREMENT || operation == RW_STORE_DECREMENT;
        const bool leads = counts || operation == RW_STORE_COMPARE_AND_SET;
        const char *key = from + sizeof *request;
        uint64_t expected = 0, expiry = 0, number;
        if (leads) memcpy(&expected, key, sizeof expected), key += sizeof expected;
        if (request->operation & RW_STORE_EXPIRES) memcpy(&expiry, key, sizeof expiry), key += sizeof expiry;
        const char *value = key + rw_store_padded(request->key_bytes);
        from = value + rw_store_padded(request->value_bytes);
        rw_store_response *response = (rw_store_response *)to;
        *response = (rw_store_response){RW_STORE_UNKNOWN, (uint16_t)operation, 0, 0, request->tag};
        to += sizeof *response;
        rw_store_outcome outcome = RW_STORE_UNKNOWN;
        const rw_store_item *item;
        switch (operation) {
        case RW_STORE_GET:
        case RW_STORE_GET_VERSION:
            item = region_find(store, key, request->key_bytes, &outcome);
            if (item) to = put_item(response, item, operation == RW_STORE_GET_VERSION);
            break;
        case RW_STORE_SET:
        case RW_STORE_ADD:
        case RW_STORE_REPLACE:
        case RW_STORE_COMPARE_AND_SET:
        case RW_STORE_APPEND:
        case RW_STORE_PREPEND:
            outcome = region_store(store, operation, expected, (uint32_t)expiry, key, request->key_bytes, value, request->value_bytes,
                                   request->flags);
            break;
        case RW_STORE_TOUCH: outcome = region_touch(store, (uint32_t)expiry, key, request->key_bytes); break;
        case RW_STORE_INCREMENT:
        case RW_STORE_DECREMENT:
            outcome = region_count(store, operation == RW_STORE_INCREMENT, expected, key, request->key_bytes, &number);
            if (outcome == RW_STORE_OK) to = rw_store_append(to, &number, sizeof number);
            break;
        case RW_STORE_FLUSH: outcome = flush(store, (uint32_t)expiry, request->key_bytes); break;
        case RW_STORE_COUNT:
            outcome = request->key_bytes ? RW_STORE_TOO_LONG : RW_STORE_OK;
            if (outcome == RW_STORE_OK) to = rw_store_append(to, &store->items, sizeof store->items);
            break;
        case RW_STORE_DELETE: outcome = region_delete(store, key, request->key_bytes); break;
        }
        response->outcome = (uint16_t)outcome;
    }
    return (size_t)(to - (char *)responses);
}
