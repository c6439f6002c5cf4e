#include "pages.h"

#include <sys/mman.h>

#include <algorithm>

#include "rackwright/process.h"

namespace rackwright::protobuf {

namespace {

constexpr uint64_t page_bytes = 4096;

// Linux, include/uapi/asm-generic/mman-common.h; the C library's headers may be older.
constexpr int populate_read = 22, populate_write = 23;

// After so many the memory of the whole machine has been asked for.
constexpr unsigned most_attempts = 40;

// From `start` up to `end`, both whole pages. The kernel says first whether all of them may be had: a process must not end
// because a unit looked ahead. A page that is there may lack the mark of an access or a write, which a unit does not set.
bool touch(uint64_t start, uint64_t end, bool write)
{
    void *const address = reinterpret_cast<void *>(start);
    if (start >= end || madvise(address, end - start, write ? populate_write : populate_read) != 0) return false;
    for (uint64_t page = start; page < end; page += page_bytes) {
        if (write) (void)__atomic_fetch_or(reinterpret_cast<uint32_t *>(page), 0, __ATOMIC_RELAXED);
        else (void)*reinterpret_cast<const volatile uint8_t *>(page);
    }
    return true;
}

} // namespace

bool Pages::provide(uint64_t fault)
{
    const bool is_hopeless = fault == RACKWRIGHT_FAULT_UNTRANSLATED || (fault & RACKWRIGHT_FAULT_TABLES);
    if (is_hopeless || attempts_++ == most_attempts) return false;
    if (fault == 0) return true; // of an earlier request, kept beyond its end with what was read ahead
    const uint64_t page = fault & ~(page_bytes - 1), reach = pages_ * page_bytes;
    pages_ *= 2;
    // Of an object somewhere nobody knows what is around it.
    Extent extent = {page, page + page_bytes, (fault & RACKWRIGHT_FAULT_WRITE) != 0};
    for (size_t i = 0; i < count_; i++) {
        const Extent &each = extents_[i];
        if (page + page_bytes <= each.start || page >= each.end) continue;
        extent.start = std::min(page, std::max(each.start, page - std::min(page, reach)) & ~(page_bytes - 1));
        extent.end = std::max(page + page_bytes, std::min((each.end + page_bytes - 1) & ~(page_bytes - 1), page + reach));
        extent.written |= each.written;
    }
    return touch(extent.start, extent.end, extent.written) || touch(page, page + page_bytes, extent.written);
}

} // namespace rackwright::protobuf
