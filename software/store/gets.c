/* Gets of a store by the unit `store` or by a program on the hart (rw bench store).
 *
 * The words: `unit` or `program`, gets of a batch, batches, items, and whether keys are drawn by Zipf's law with an exponent of
 * 0.99 (`zipf`) or all alike (`even`). Keys have 16 bytes, values 64. A batch is one operation; the next one begins when its
 * responses are there. Prints cycles and instructions of all batches, and the cycles of the first one. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "region.h"

enum { KEY = 16, VALUE = 64, RESPONSE = sizeof(rw_store_response) + VALUE, REQUEST = sizeof(rw_store_request) + KEY, MOST_ITEMS = 1 << 16 };

static const uint64_t hash_key[2] = {UINT64_C(0x0706050403020100), UINT64_C(0x0f0e0d0c0b0a0908)};
static uint64_t state = 52;
static double below[MOST_ITEMS];

/* xorshift64* (Vigna 2016). */
static uint64_t drawn(void)
{
    state ^= state >> 12, state ^= state << 25, state ^= state >> 27;
    return state * UINT64_C(0x2545f4914f6cdd1d);
}

static void key_of(uint64_t item, uint64_t key[KEY / 8]) { key[0] = item * UINT64_C(0x9e3779b97f4a7c15), key[1] = item; }

static void value_of(uint64_t item, uint64_t value[VALUE / 8])
{
    for (unsigned i = 0; i < VALUE / 8; i++) value[i] = (item + 1) * (i + UINT64_C(0x100000001));
}

/* Sums of the items' shares, so that an item is drawn by a search. */
static void prepare(size_t items, bool zipf)
{
    double sum = 0;
    for (size_t i = 0; i < items; i++) below[i] = sum += zipf ? pow((double)(i + 1), -0.99) : 1;
}

static uint64_t draw(size_t items)
{
    const double at = (double)(drawn() >> 11) * 0x1p-53 * below[items - 1];
    size_t low = 0, high = items - 1;
    while (low < high) {
        const size_t middle = (low + high) / 2;
        if (below[middle] > at) high = middle;
        else low = middle + 1;
    }
    return low;
}

static rw_store *filled(size_t items)
{
    unsigned bits = RW_STORE_LEAST_BUCKET_BITS;
    while ((UINT64_C(1) << bits) < 2 * items) bits++;
    const size_t bytes = (size_t)RW_STORE_GRAIN * (RW_STORE_TABLE + 4 * items + 1) + ((size_t)4 << bits);
    rw_store *store = aligned_alloc(64, (bytes + 63) / 64 * 64);
    if (!store || !rw_store_format(store, bytes, bits, hash_key)) return NULL;
    for (size_t item = 0; item < items; item++) {
        uint64_t key[KEY / 8], value[VALUE / 8];
        key_of(item, key), value_of(item, value);
        if (region_store(store, RW_STORE_SET, 0, 0, key, KEY, value, VALUE, 0) != RW_STORE_OK) return NULL;
    }
    return store;
}

int main(int count, char **words)
{
    if (count != 6) return 2;
    const bool by_unit = !strcmp(words[1], "unit");
    const size_t gets = strtoul(words[2], NULL, 10), batches = strtoul(words[3], NULL, 10), items = strtoul(words[4], NULL, 10);
    if (!gets || !batches || !items || items > MOST_ITEMS) return 2;
    rw_store *store = filled(items);
    char *requests = aligned_alloc(64, (gets * batches * REQUEST + 63) / 64 * 64), *responses = aligned_alloc(64, (gets * RESPONSE + 63) / 64 * 64);
    uint64_t *asked = malloc(gets * batches * sizeof *asked);
    if (!store || !requests || !responses || !asked) return 1;
    prepare(items, !strcmp(words[5], "zipf"));
    char *at = requests;
    for (size_t i = 0; i < gets * batches; i++) {
        uint64_t key[KEY / 8];
        asked[i] = draw(items);
        key_of(asked[i], key);
        at = rw_store_put(at, RW_STORE_GET, key, KEY, NULL, 0, 0, (uint32_t)i);
    }
    if (by_unit) rw_store_open(store);

    uint64_t cycles = 0, instructions = 0, first = 0;
    size_t right = 0;
    for (size_t batch = 0; batch < batches; batch++) {
        const char *from = requests + batch * gets * REQUEST;
        const uint64_t start = rackwright_cycles(), retired = rackwright_instructions();
        size_t bytes;
        if (by_unit) rw_store_start(from, gets * REQUEST, responses, gets * RESPONSE), bytes = rw_store_wait();
        else bytes = region_serve(store, from, gets * REQUEST, responses);
        instructions += rackwright_instructions() - retired;
        const uint64_t taken = rackwright_cycles() - start;
        cycles += taken;
        if (!batch) first = taken;
        if (bytes != gets * RESPONSE) return 1;
        for (size_t i = 0; i < gets; i++) {
            const rw_store_response *response = (const rw_store_response *)(responses + i * RESPONSE);
            uint64_t value[VALUE / 8];
            value_of(asked[batch * gets + i], value);
            right += response->outcome == RW_STORE_OK && response->tag == batch * gets + i && !memcmp(response + 1, value, VALUE);
        }
    }
    printf("%lu %lu %lu %zu\n", (unsigned long)cycles, (unsigned long)instructions, (unsigned long)first, right);
    return right != gets * batches;
}
