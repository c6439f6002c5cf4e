#include "rackwright/process.h"

#define PAGE_BYTES 4096u

/* Pages that are touched at the first fault; then twice as many each time. */
#define FIRST_PAGES 16u

/* Faults after which an operation is given up: each has touched twice as many pages as the one before, so that they can only
 * come from somebody who takes the pages away at once, or from memory that is not there. */
#define MOST_ATTEMPTS 40u

/* Has the kernel provide the page at `address`, without changing what is there. */
static void touch(uint64_t address, bool write)
{
    if (write) {
        uint32_t *word = (uint32_t *)(address & ~(uint64_t)3);
        (void)__atomic_fetch_or(word, 0, __ATOMIC_RELAXED);
    } else {
        (void)*(const volatile uint8_t *)address;
    }
}

/* Touches up to `pages` pages of `range`, from that of `from` on. */
static void touch_range(const rackwright_range *range, uint64_t from, unsigned pages)
{
    const uint64_t end = range->start + range->bytes;
    for (uint64_t page = from; pages != 0 && page < end; pages--) {
        touch(page, range->written);
        page = (page | (PAGE_BYTES - 1)) + 1;
    }
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
            touch_range(range, range->start, UINT32_MAX);
        } else if (range->start < page + PAGE_BYTES && page < range->start + range->bytes) {
            touch_range(range, page < range->start ? range->start : page, residence->pages);
        }
    }
    return true;
}
