/* Two items are stored and asked for, by the unit `store`. */
#include <stdio.h>
#include <stdlib.h>

#include "rackwright/store.h"

enum { REGION = 1 << 16 };

int main(void)
{
    static const uint64_t secret[2] = {0x243f6a8885a308d3, 0x13198a2e03707344};
    static uint64_t requests[64], responses[64];
    rw_store *store = aligned_alloc(64, REGION);
    if (store == NULL || !rw_store_format(store, REGION, 8, secret)) return 1;
    rw_store_open(store);

    void *end = rw_store_put(requests, RW_STORE_SET, "first", 5, "one", 3, 0, 1);
    end = rw_store_put(end, RW_STORE_SET, "second", 6, "two", 3, 0, 2);
    end = rw_store_put(end, RW_STORE_GET, "second", 6, NULL, 0, 0, 3);
    end = rw_store_put(end, RW_STORE_GET, "third", 5, NULL, 0, 0, 4);
    rw_store_start(requests, (size_t)((char *)end - (char *)requests), responses, sizeof responses);
    const size_t bytes = rw_store_wait();

    const char *at = (const char *)responses;
    while (at < (const char *)responses + bytes) {
        const rw_store_response *response = (const rw_store_response *)at;
        at += sizeof *response;
        printf("request %u: %u, '%.*s'\n", response->tag, response->outcome, (int)response->value_bytes, at);
        at += rw_store_padded(response->value_bytes);
    }
    printf("%lu items\n", (unsigned long)store->items);
    return 0;
}
