/* For madvise. */
#define _DEFAULT_SOURCE

#include "rackwright/process.h"

#include <sys/mman.h>

#define PAGE_BYTES 4096u

/* Pages that are provided at the first fault; then twice as many each time. */
#define FIRST_PAGES 16u

/* Faults after which an operation is given up: each has asked for twice as many pages as the one before, so that they can only
 * come from somebody who takes the pages away at once, or from memory that is not there. */
#define MOST_ATTEMPTS 40u

/* Linux, include/uapi/asm-generic/mman-common.h; the C library's headers may be older. */
#define POPULATE_READ 22
#define POPULATE_WRITE 23

bool rackwright_provide(uint64_t start, uint64_t end, bool write)
{
    start &= ~(uint64_t)(PAGE_BYTES - 1);
    end = (end + PAGE_BYTES - 1) & ~(uint64_t)(PAGE_BYTES - 1);
    const int advice = write ? POPULATE_WRITE : POPULATE_READ;
    if (start >= end || madvise((void *)start, end - start, advice) != 0) return false;
    /* A page that is there may lack the mark of an access or a write, which a unit does not set. */
    for (uint64_t page = start; page < end; page += PAGE_BYTES) {
        if (write) {
            (void)__atomic_fetch_or((uint32_t *)page, 0, __ATOMIC_RELAXED);
        } else {
            (void)*(const volatile uint8_t *)page;
        }
    }
    return true;
}

/* Provides up to `pages` pages of `range`, from that of `from` on, or at least this one. */
static bool provide_some(const rackwright_range *range, uint64_t from, uint64_t pages)
{
    const uint64_t reach = from + pages * PAGE_BYTES, end = range->start + range->bytes;
    return rackwright_provide(from, reach < end ? reach : end, range->written)
           || rackwright_provide(from, from + 1, range->written);
}

bool rackwright_make_resident(rackwright_residence *residence, uint64_t fault,
                              const rackwright_range *ranges, size_t count)
{
    if (fault == RACKWRIGHT_FAULT_UNTRANSLATED || (fault & RACKWRIGHT_FAULT_TABLES) != 0) {
        return false;
    }
    if (residence->attempts++ == MOST_ATTEMPTS) return false;
    const uint64_t page = fault & ~(uint64_t)(PAGE_BYTES - 1);
    residence->pages = residence->attempts == 1 ? FIRST_PAGES : 2 * residence->pages;
    for (size_t i = 0; i < count; i++) {
        const rackwright_range *range = &ranges[i];
        const bool known = (fault & RACKWRIGHT_FAULT_KNOWN) != 0;
        if (!known) {
            /* Somebody else's operation has come after ours, and the unit does not remember. */
            (void)rackwright_provide(range->start, range->start + range->bytes, range->written);
        } else if (range->start < page + PAGE_BYTES && page < range->start + range->bytes) {
            if (!provide_some(range, page, residence->pages)) return false;
        }
    }
    return true;
}
